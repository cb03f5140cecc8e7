// SPDX-License-Identifier: Apache-2.0
// Every pass of the device is the reference's, to the bit.
#include "laconic/backend/device/update.hpp"

#include "laconic/core/term.hpp"
#include "support/both.hpp"
#include "support/test.hpp"

using namespace laconic;
using both::here;
using both::in;

namespace {

template <class T>
struct in_a_row {
    T const* values;
    std::size_t count;
    static constexpr bool in_order = true;
    constexpr std::size_t size() const { return count; }
    constexpr term<T> operator[](std::size_t j) const { return {static_cast<coordinate>(j), values[j]}; }
};
template <class T>
struct every_third {
    T const* values;
    std::size_t count;
    static constexpr bool in_order = false;
    constexpr std::size_t size() const { return count / 3; }
    constexpr term<T> operator[](std::size_t j) const { return {static_cast<coordinate>(3 * j), values[j]}; }
};

}  // namespace

TEST_CASE_TEMPLATE("each pass is its definition, to the bit", T, float, double) {
    device on;
    reference plain;
    both::each_vector<T>([&](std::vector<T> const& x) {
        auto const y = both::numbers<T>(both::kind::odd, x.size()), z = both::numbers<T>(both::kind::noise, x.size());
        auto const a = both::there(on, x), b = both::there(on, y);
        // pass(backend, x, y, what it changes, what it changes too)
        auto const check = [&](auto pass) {
            auto v = both::there(on, z), w = b;
            auto expected_v = z, expected_w = y;
            pass(on, in(a), in(b), std::span<T>(v), std::span<T>(w));
            pass(plain, in(x), in(y), std::span<T>(expected_v), std::span<T>(expected_w));
            CHECK(both::same_bits(here(on, v), expected_v));
            CHECK(both::same_bits(here(on, w), expected_w));
        };
        check([](auto& backend, auto p, auto, auto v, auto) { add_scaled(backend, T(0.3), p, v); });
        check([](auto& backend, auto, auto, auto v, auto) { multiply(backend, T(0.3), v); });
        check([](auto& backend, auto p, auto, auto v, auto w) { subtract_last(backend, v, p, w); });
        check(
            [](auto& backend, auto p, auto q, auto v, auto w) { gather_momentum(backend, T(0.9), false, v, p, q, w); });
        check(
            [](auto& backend, auto p, auto q, auto v, auto w) { gather_momentum(backend, T(0.9), true, v, p, q, w); });
        check([](auto& backend, auto, auto, auto v, auto w) { complete_and_remember(backend, v, T(0.3), w); });
        check([](auto& backend, auto p, auto q, auto v, auto) { scaled_distances(backend, T(0.3), p, q, v); });
        check([](auto& backend, auto p, auto, auto v, auto) {
            add_terms(backend, v, T(0.3), in_a_row<T>{p.data(), p.size()});
        });
        check([](auto& backend, auto p, auto, auto v, auto) {
            add_terms(backend, v, T(0.3), every_third<T>{p.data(), p.size()});
        });
        check([](auto& backend, auto p, auto, auto v, auto) {
            clear_terms(backend, v, every_third<T>{p.data(), p.size()});
        });
        for (int which = 0; which < 4; ++which) {
            bool finite[2] = {false, false};
            int n = 0;
            check([&](auto& backend, auto p, auto q, auto v, auto) {
                if (which % 2 == 0) p = {};
                if (which / 2 == 0) q = {};
                finite[n++] = compensate(backend, T(0.7), std::span<T const>(v), p, T(0.6), q, v);
            });
            CHECK(finite[0] == finite[1]);
        }
    });
}
