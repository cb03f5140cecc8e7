// SPDX-License-Identifier: Apache-2.0
#include "laconic/backend/host/round.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "laws/compressor.hpp"

using namespace laconic;

namespace {

template <class T>
std::vector<std::int16_t> levels_of(std::vector<T> const& x, T step, int levels, key from, std::uint64_t first = 0) {
    host on;
    std::vector<std::int16_t> codes(x.size());
    round_to_levels(on, std::span<T const>(x), step, levels, from, first, std::span(codes));
    return codes;
}
template <class T>
std::vector<std::uint16_t> powers_of(std::vector<T> const& x, key from, std::uint64_t first = 0) {
    host on;
    std::vector<std::uint16_t> codes(x.size());
    round_to_powers(on, std::span<T const>(x), from, first, std::span(codes));
    return codes;
}

}  // namespace

TEST_CASE_TEMPLATE("what is on the grid stays", T, float, double) {
    std::vector<T> const x{0, T(-0.0), T(0.25), T(-0.5), T(0.75), -1, 1};
    std::vector<std::int16_t> const expected{0, 0, 1, -2, 3, -4, 4};
    for (std::uint64_t k = 0; k < 50; ++k) CHECK(levels_of(x, T(0.25), 4, key{k}) == expected);
}

TEST_CASE_TEMPLATE("what is between goes up as often as it is far", T, float, double) {
    int const n = 20000;
    for (double const cut : {0.5, 0.125, 0.9375}) {
        std::vector<T> const x(n, static_cast<T>(-2 - cut));
        int up = 0;
        for (int const c : levels_of(x, T(1), 3, key{9})) {
            REQUIRE((c == -2 || c == -3));
            up += c == -3;
        }
        CHECK(std::abs(up - cut * n) < 5 * std::sqrt(cut * (1 - cut) * n));
    }
}

TEST_CASE("the finest grid and the largest code") {
    CHECK(levels_of<double>({1, -1}, 1.0 / 32767, 32767, key{1}) == std::vector<std::int16_t>{32767, -32767});
    // A quotient rounded above the last level is still that level.
    CHECK(levels_of<double>({std::nextafter(3.0, 4.0)}, 1.0, 3, key{1}) == std::vector<std::int16_t>{3});
}

TEST_CASE_TEMPLATE("in pieces or at once: the same codes", T, float, double) {
    auto const x = laws::noise<T>(100, 4);
    auto const whole = levels_of(x, T(0.125), 8, key{6}, 1000);
    auto const whole_powers = powers_of(x, key{6}, 1000);
    for (std::size_t cut : {1u, 3u, 4u, 50u, 99u}) {
        std::vector<T> const a(x.begin(), x.begin() + static_cast<std::ptrdiff_t>(cut));
        std::vector<T> const b(x.begin() + static_cast<std::ptrdiff_t>(cut), x.end());
        auto codes = levels_of(a, T(0.125), 8, key{6}, 1000);
        for (auto c : levels_of(b, T(0.125), 8, key{6}, 1000 + cut)) codes.push_back(c);
        CHECK(codes == whole);
        auto powers = powers_of(a, key{6}, 1000);
        for (auto c : powers_of(b, key{6}, 1000 + cut)) powers.push_back(c);
        CHECK(powers == whole_powers);
    }
    CHECK(levels_of(x, T(0.125), 8, key{7}, 1000) != whole);
    CHECK(powers_of(x, key{6}, 1001) != whole_powers);
}

// The exponent field of 1 is 127 in a float and 1023 in a double; the sign stands above it.
TEST_CASE("powers of two stay, zeros too, with their signs") {
    CHECK(powers_of<float>({1, -1, 2, 0.5f, 0, -0.0f, 0x1p127f, 0x1p-126f}, key{3}) ==
          std::vector<std::uint16_t>{127, 256 + 127, 128, 126, 0, 256, 254, 1});
    CHECK(powers_of<double>({1, -1, 2, 0.5, 0, -0.0, 0x1p1023, 0x1p-1022}, key{3}) ==
          std::vector<std::uint16_t>{1023, 2048 + 1023, 1024, 1022, 0, 2048, 2046, 1});
}

TEST_CASE_TEMPLATE("between two powers: up with the fraction as probability, subnormal numbers too", T, float, double) {
    int const n = 20000;
    T const least = std::numeric_limits<T>::min();
    int const bias = std::numeric_limits<T>::max_exponent - 1;
    struct {
        T x;
        double up;
        int below;
    } const cases[] = {{T(1.25), 0.25, bias}, {3, 0.5, bias + 1}, {least / 8, 0.125, 0}, {least * T(1.75), 0.75, 1}};
    for (auto const& c : cases) {
        CAPTURE(c.x);
        int up = 0;
        for (int const code : powers_of(std::vector<T>(n, c.x), key{8})) {
            REQUIRE((code == c.below || code == c.below + 1));
            up += code == c.below + 1;
        }
        CHECK(std::abs(up - c.up * n) < 5 * std::sqrt(c.up * (1 - c.up) * n));
    }
}

TEST_CASE_TEMPLATE("above the largest power of two it is rounded down, never to infinity", T, float, double) {
    auto const top = static_cast<std::uint16_t>(2 * std::numeric_limits<T>::max_exponent - 2);
    for (std::uint64_t k = 0; k < 100; ++k)
        CHECK(powers_of<T>({std::numeric_limits<T>::max()}, key{k}) == std::vector<std::uint16_t>{top});
}
