// SPDX-License-Identifier: Apache-2.0
// A product in place of a quotient changes no code: its error stays within the bound that the kernel checks.
#include "laconic/backend/host/impl/rounded_together.hpp"

#include <cstdlib>

#include "support/everything.hpp"

using namespace laconic;
using namespace laconic::kernels;

namespace {

// What has to be cut off of a magnitude, in steps of 2^-16, so that the window makes a whole of it; of a negative
// number, whose sign is the highest bit of `some`, it is the window itself.
double carried(std::uint64_t some, std::uint16_t window) { return some >> 63 != 0 ? window : 0x10000 - window; }

}  // namespace

// What is cut off is put where it is carried, or just not, and often beside a whole number: there the last bit of a
// quotient decides.
TEST_CASE("a product in place of a quotient changes no code") {
    host on;
    reference defined_on;
    constexpr std::size_t n = 20000;
    key const from{11};
    for (int const levels : {1, 2, 7, 85, 86, 127, 170, 171, 255, 256, 1000})
        for (float const step : {1.0f, 0.3f, 1.9999999f, 1.0000001f, 0x1.8p-30f, 3e-37f, 1e35f, 3e-41f}) {
            std::vector<float> x(n);
            for (std::size_t i = 0; i < n; ++i) {
                auto const some = from.child(1).long_word(i);
                auto const below = static_cast<double>(some % static_cast<unsigned>(levels));
                double const apart = static_cast<double>(some >> 32 & 15) - 7;
                double const cut = i % 5 == 0 ? apart : carried(some, from.window(i)) + apart;
                double const size = std::abs((below + cut * 0x1p-16) * static_cast<double>(step));
                double const largest = static_cast<double>(step) * levels;
                x[i] = static_cast<float>(size < largest ? size : largest);
                if (some >> 63 != 0) x[i] = -x[i];
            }
            std::vector<std::int16_t> codes(n), defined(n);
            round_to_levels(on, std::span<float const>(x), step, levels, from, 0, std::span(codes));
            round_to_levels(defined_on, std::span<float const>(x), step, levels, from, 0, std::span(defined));
            CAPTURE(levels);
            CAPTURE(step);
            CHECK(codes == defined);
        }
}

TEST_CASE("nor does it where the grid begins elsewhere and codes have no sign") {
    host on;
    reference defined_on;
    constexpr std::size_t n = 20000;
    key const from{12};
    for (int const most : {1, 2, 15, 85, 170, 171, 255})
        for (float const step : {1.0f, 0.3f, 1.9999999f, 1.0000001f, 0x1.8p-30f, 3e-37f, 1e35f, 3e-41f})
            for (float const least : {0.0f, -step, 0.5f * step}) {
                std::vector<float> x(n);
                for (std::size_t i = 0; i < n; ++i) {
                    auto const some = from.child(1).long_word(i);
                    auto const below = static_cast<double>(some % static_cast<unsigned>(most));
                    double const apart = static_cast<double>(some >> 32 & 15) - 7;
                    double const cut = i % 5 == 0 ? apart : carried(0, from.window(i)) + apart;
                    double const on_grid = std::clamp(below + cut * 0x1p-16, 0.0, static_cast<double>(most));
                    x[i] = std::max(least, static_cast<float>(on_grid * static_cast<double>(step) + double{least}));
                }
                std::vector<std::uint8_t> codes(n), defined(n);
                round_to_range(on, std::span<float const>(x), least, step, most, from, 0, std::span(codes));
                round_to_range(defined_on, std::span<float const>(x), least, step, most, from, 0, std::span(defined));
                CAPTURE(most);
                CAPTURE(step);
                CAPTURE(least);
                CHECK(codes == defined);
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
