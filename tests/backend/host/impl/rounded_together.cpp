// SPDX-License-Identifier: Apache-2.0
// A product in place of a quotient changes no code: its error stays within the bound that the kernel checks.
#include "laconic/backend/host/impl/rounded_together.hpp"

#include <cstdlib>

#include "support/both.hpp"
#include "support/by_key.hpp"
#include "support/everything.hpp"

using namespace laconic::kernels;

// What has to be cut off of a magnitude, in steps of 2^-16, so that the window makes a whole of it; of a negative
// number, whose sign is the highest bit of `some`, it is the window itself.
double carried(std::uint64_t some, std::uint16_t window) { return some >> 63 != 0 ? window : 0x10000 - window; }

// What is cut off is put where it is carried, or just not, and often beside a whole number: there the last bit of a
// quotient decides.
TEST_CASE(
    "a product in place of a quotient changes no code, nor where the grid begins elsewhere and codes have no sign" *
    doctest::test_suite("slow")) {
    both::beside_reference<host> pair;
    key const from{11};
    // Of the i-th value, where it is on a grid of so many levels in steps.
    auto const on_grid = [&](std::size_t i, int levels, bool any_sign) {
        auto const some = from.child(1).long_word(i);
        auto const below = static_cast<double>(some % static_cast<unsigned>(levels));
        double const apart = static_cast<double>(some >> 32 & 15) - 7;
        double const cut = i % 5 == 0 ? apart : carried(any_sign ? some : 0, from.window(i)) + apart;
        double const size = std::clamp(below + cut * 0x1p-16, any_sign ? -levels : 0.0, double(levels));
        return any_sign ? std::copysign(size, some >> 63 != 0 ? -1.0 : 1.0) : size;
    };
    std::vector<float> x(20000);
    for (float const step : {1.0f, 0.3f, 1.9999999f, 1.0000001f, 0x1.8p-30f, 3e-37f, 1e35f, 3e-41f}) {
        CAPTURE(step);
        auto const in_steps = [&](double v) { return static_cast<float>(v * static_cast<double>(step)); };
        for (int const levels : {1, 2, 7, 85, 86, 127, 170, 171, 255, 256, 1000}) {
            CAPTURE(levels);
            float const most = in_steps(levels);
            for (std::size_t i = 0; i < x.size(); ++i)
                x[i] = std::clamp(in_steps(on_grid(i, levels, true)), -most, most);
            CHECK(pair.same(
                [=](auto& on, auto& v, auto& codes) {
                    round_to_levels(on, both::in(v), step, levels, from, 0, both::out(codes));
                },
                x, std::vector<std::int16_t>(x.size())));
        }
        for (int const most : {1, 2, 15, 85, 170, 171, 255})
            for (float const least : {0.0f, -step, 0.5f * step}) {
                CAPTURE(most);
                CAPTURE(least);
                for (std::size_t i = 0; i < x.size(); ++i)
                    x[i] = std::max(least, static_cast<float>(on_grid(i, most, false) * double{step} + double{least}));
                CHECK(pair.same(
                    [=](auto& on, auto& v, auto& codes) {
                        round_to_range(on, both::in(v), least, step, most, from, 0, both::out(codes));
                    },
                    x, std::vector<std::uint8_t>(x.size())));
            }
    }
}

TEST_CASE("how far a product in steps of 2^-16 is from the quotient") {
    using quotient = detail::near_quotient<float>;
    for (int const levels : {1, 7, 85, 86, 255}) {
        std::int64_t nearest = 9, furthest = 0;
        for (std::uint64_t n = 0; n < 20000; ++n) {
            auto const step = static_cast<float>(1 + key{1}.uniform(n));
            auto const x = static_cast<float>((2 * key{2}.uniform(n) - 1) * levels) * step;
            quotient const q(step, levels);
            REQUIRE(q.is_exact);
            auto const by_quotient = static_cast<std::int64_t>(std::floor(x / step * 0x1p16f));
            float product = x * q.per_cut;  // by itself: rounded twice
            simd::settle(product);
            for (float const sum : {std::fma(x, q.per_cut, q.ahead), product + q.ahead}) {
                auto const apart = static_cast<std::int64_t>(sum) - by_quotient;
                nearest = std::min(nearest, apart);
                furthest = std::max(furthest, apart);
            }
        }
        CHECK(nearest >= 1);
        CHECK(furthest <= quotient::furthest);
        CHECK(furthest > nearest);  // else there were nothing to decide
    }
    CHECK(!quotient(1.0f, 256).is_exact);
    CHECK(!quotient(0x1p-90f, 7).is_exact);
    CHECK(!quotient(0x1p120f, 7).is_exact);
}
