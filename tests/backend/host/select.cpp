// SPDX-License-Identifier: Apache-2.0
#include "laconic/backend/host/select.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include "laws/compressor.hpp"

using namespace laconic;
using coordinates = std::vector<coordinate>;

namespace {

template <class T>
coordinates largest(std::vector<T> const& x, std::size_t k) {
    host on;
    coordinates out{9, 9};
    select_largest(on, std::span<T const>(x), k, out);
    return out;
}
template <class T>
coordinates above(std::vector<T> const& x, T bound) {
    host on;
    coordinates out{9, 9};
    select_above(on, std::span<T const>(x), bound, out);
    return out;
}

// The definition: sorted by magnitude, equal ones by coordinate, the first k of them, ascending.
template <class T>
coordinates by_definition(std::vector<T> const& x, std::size_t k) {
    coordinates order(x.size());
    std::iota(order.begin(), order.end(), 0u);
    std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return std::abs(x[a]) > std::abs(x[b]); });
    order.resize(k);
    std::sort(order.begin(), order.end());
    return order;
}

}  // namespace

TEST_CASE_TEMPLATE("by hand", T, float, double) {
    std::vector<T> const x{1, -5, 3, 5, -3, 0};
    CHECK(largest(x, 0).empty());
    CHECK(largest(x, 1) == coordinates{1});  // -5 and 5 are equal: the lower coordinate
    CHECK(largest(x, 2) == coordinates{1, 3});
    CHECK(largest(x, 3) == coordinates{1, 2, 3});
    CHECK(largest(x, 6) == coordinates{0, 1, 2, 3, 4, 5});
    CHECK(largest(std::vector<T>(8, T(0)), 3) == coordinates{0, 1, 2});
    CHECK(largest(std::vector<T>{0, T(-0.0), 0}, 2) == coordinates{0, 1});
    CHECK(largest(std::vector<T>{}, 0).empty());
    CHECK(above(x, T(3)) == coordinates{1, 3});
    CHECK(above(x, T(0)) == coordinates{0, 1, 2, 3, 4});
    CHECK(above(x, T(5)).empty());
}

TEST_CASE_TEMPLATE("many ties, every k, every length", T, float, double) {
    for (std::size_t d = 1; d <= 40; ++d) {
        std::vector<T> x(d);
        for (std::size_t i = 0; i < d; ++i) x[i] = static_cast<T>(static_cast<int>(key{d}.below(i, 7)) - 3);
        for (std::size_t k = 0; k <= d; ++k) REQUIRE(largest(x, k) == by_definition(x, k));
    }
    auto const x = laws::noise<T>(1000, 3, 5);
    for (std::size_t k : {1u, 10u, 500u, 999u}) CHECK(largest(x, k) == by_definition(x, k));
}

TEST_CASE_TEMPLATE("subnormal numbers are larger than zeros", T, float, double) {
    T const tiny = std::numeric_limits<T>::denorm_min();
    CHECK(largest(std::vector<T>{0, tiny, 0, -2 * tiny}, 2) == coordinates{1, 3});
    CHECK(above(std::vector<T>{0, tiny, 0, -2 * tiny, 0, 0, 0, 0, tiny}, T(0)) == coordinates{1, 3, 8});
}

TEST_CASE_TEMPLATE("above a bound: every length, every position", T, float, double) {
    host on;
    coordinates out;
    for (std::size_t d = 1; d <= 40; ++d)
        for (std::size_t i = 0; i < d; ++i) {
            std::vector<T> x(d, T(-1)), bounds(d, T(1));
            x[i] = T(-1.5);
            REQUIRE(above(x, T(1)) == coordinates{static_cast<coordinate>(i)});
            select_above(on, std::span<T const>(x), std::span<T const>(bounds), out);
            REQUIRE(out == coordinates{static_cast<coordinate>(i)});
            bounds[i] = std::numeric_limits<T>::infinity();
            bounds[d - 1 - i] = d - 1 == 2 * i ? bounds[i] : T(0.5);
            select_above(on, std::span<T const>(x), std::span<T const>(bounds), out);
            coordinates const other{static_cast<coordinate>(d - 1 - i)};
            REQUIRE(out == (d - 1 == 2 * i ? coordinates{} : other));
            x[i] = std::numeric_limits<T>::quiet_NaN();  // is always above, so that it is not lost
            REQUIRE(above(x, std::numeric_limits<T>::max()) == coordinates{static_cast<coordinate>(i)});
        }
}

TEST_CASE_TEMPLATE("gather scales what it takes", T, float, double) {
    host on;
    std::vector<T> const x{1, 2, 3, 4};
    std::vector<T> out{9, 9, 9, 9, 9};
    coordinates const at{3, 0, 3};
    gather(on, std::span<T const>(x), std::span<coordinate const>(at), 1, T(-2), out);
    CHECK(out == std::vector<T>{-8, -2, -8});
}

TEST_CASE_TEMPLATE("magnitudes, the largest first", T, float, double) {
    host on;
    std::vector<T> out{9, 9, 9};
    auto const sorted = [&](std::vector<T> const& x) {
        sort_magnitudes(on, std::span<T const>(x), out);
        return out;
    };
    T const tiny = std::numeric_limits<T>::denorm_min(), largest = std::numeric_limits<T>::max();
    CHECK(sorted({}).empty());
    CHECK(sorted({-3}) == std::vector<T>{3});
    CHECK(sorted({1, -5, 3, 5, -3, 0}) == std::vector<T>{5, 5, 3, 3, 1, 0});
    CHECK(sorted({2, 2, -2, 2}) == std::vector<T>{2, 2, 2, 2});
    CHECK(sorted({tiny, 0, -largest, -2 * tiny}) == std::vector<T>{largest, 2 * tiny, tiny, 0});
    CHECK_FALSE(std::signbit(sorted({1, T(-0.0)})[1]));
}

TEST_CASE_TEMPLATE("how many magnitudes are in each bin below the largest", T, float, double) {
    host on;
    std::vector<std::uint32_t> counts(257, 9);
    auto const filled = [&](std::vector<T> const& x, T scale) {  // bin and count
        std::vector<T> y;
        for (T const v : x) y.push_back(v * scale);
        count_by_magnitude(on, std::span<T const>(y), largest_magnitude(on, std::span<T const>(y)),
                           std::span<std::uint32_t>(counts));
        std::vector<std::pair<std::size_t, unsigned>> result;
        for (std::size_t b = 0; b < counts.size(); ++b)
            if (counts[b] > 0) result.push_back({b, counts[b]});
        return result;
    };
    using bins = std::vector<std::pair<std::size_t, unsigned>>;
    // [1, 1 + 2^-8) is bin 0 and [1 - 2^-9, 1) is bin 1; 1 / 2 is the lowest of 257, below it nothing is counted.
    std::vector<T> const x{1, 0, -1, T(-1 + 0x1p-20), T(1 - 0x1p-9), T(1 - 0x1p-8), T(0.5), T(0.5 - 0x1p-20), T(-0.0)};
    for (T const scale : {T(1), T(-8), std::numeric_limits<T>::max() / 2 + T(0), std::numeric_limits<T>::min()})
        CHECK(filled(x, std::exp2(std::trunc(std::log2(std::abs(scale))))) == bins{{0, 2}, {1, 2}, {2, 1}, {256, 1}});
    CHECK(filled({1, T(1 + 0x1p-8), T(1 + 0x1p-8 - 0x1p-20)}, 1) == bins{{0, 1}, {1, 2}});
    T const tiny = std::numeric_limits<T>::denorm_min();
    CHECK(filled({5 * tiny, -4 * tiny, 2 * tiny, 3 * tiny, 0}, 1) == bins{{0, 1}, {64, 1}, {192, 1}});
    CHECK(filled({std::numeric_limits<T>::max(), -std::numeric_limits<T>::max() / 2, 1, tiny}, 1) ==
          bins{{0, 1}, {256, 1}});
    counts.resize(0);
    CHECK(filled(x, 1).empty());
}

TEST_CASE_TEMPLATE("coordinates are drawn in proportion to their magnitude, large ones for certain", T, float, double) {
    host on;
    std::vector<coordinate> out{9};
    std::vector<T> const x{4, -1, 0, T(0.5), -8};
    std::vector<int> drawn(5);
    int const times = 20000;
    for (int t = 0; t < times; ++t) {
        sample_in_proportion(on, std::span<T const>(x), T(4), key{std::uint64_t(t)}, out);
        CHECK(std::is_sorted(out.begin(), out.end()));
        for (auto const i : out) ++drawn[i];
    }
    CHECK(drawn[0] == times);
    CHECK(drawn[4] == times);
    CHECK(drawn[2] == 0);
    for (auto const& [i, p] : {std::pair{1, .25}, {3, .125}})
        CHECK(std::abs(drawn[std::size_t(i)] - p * times) < 5 * std::sqrt(p * (1 - p) * times));
    sample_in_proportion(on, std::span<T const>(x), T(0), key{1}, out);
    CHECK(out == std::vector<coordinate>{0, 1, 3, 4});
    sample_in_proportion(on, std::span<T const>(), T(1), key{1}, out);
    CHECK(out.empty());
}
