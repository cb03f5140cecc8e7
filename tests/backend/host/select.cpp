// SPDX-License-Identifier: Apache-2.0
// The host's selections are those of a plain definition: largest, about k, above bounds, blocks that are not 0.
#include "laconic/backend/host/select.hpp"

#include "support/everything.hpp"
#include "support/laws/compressor.hpp"

using namespace laconic::kernels;
using coordinates = std::vector<coordinate>;

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

TEST_CASE_TEMPLATE("subnormal numbers are larger than zeros", T, float, double) {
    T const tiny = std::numeric_limits<T>::denorm_min();
    CHECK(largest(std::vector<T>{0, tiny, 0, -2 * tiny}, 2) == coordinates{1, 3});
    CHECK(above(std::vector<T>{0, tiny, 0, -2 * tiny, 0, 0, 0, 0, tiny}, T(0)) == coordinates{1, 3, 8});
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

template <class T>
std::vector<T> long_vector(int kind) {
    std::vector<T> x(40007);
    for (std::size_t i = 0; i < x.size(); ++i) {
        double const u = key{6}.uniform(i), noise = std::tan(3 * (u - 0.5));
        x[i] = static_cast<T>(kind == 0 ? noise : kind == 1 ? std::floor(9 * u) - 4 : i % 50 == 0 ? noise : 0);
        if (kind == 3 && i % 1000 == 7) x[i] = i % 2000 == 7 ? INFINITY : -NAN;
    }
    return x;
}

TEST_CASE_TEMPLATE("about k of many: no threshold of the grid leaves more, and not too many", T, float, double) {
    host on;
    reference plain;
    coordinates out{9}, expected;
    for (int kind = 0; kind < 4; ++kind) {
        auto const x = long_vector<T>(kind);
        std::size_t const d = x.size();
        std::vector<std::uint64_t> sorted;
        for (T const v : x) sorted.push_back(detail::magnitude_bits(v));
        std::sort(sorted.begin(), sorted.end(), std::greater<>{});
        auto const about = [&](std::size_t least, std::size_t k, std::size_t most) {
            // Of the numbers on a grid: as many as are allowed, except for those that are equal to the next one.
            for (int shift = std::numeric_limits<decltype(detail::magnitude_bits(T{}))>::digits - 12;;) {
                std::size_t n = most;
                while (n > 0 && n < d && sorted[n] >> shift == sorted[n - 1] >> shift) --n;
                if (n >= least || shift == 0)
                    return select_largest(plain, std::span<T const>(x), n >= least ? n : k, expected);
                shift = std::max(0, shift - 11);
            }
        };
        for (std::size_t const k : {1u, 40u, 400u, 3000u, 20000u, 39000u})
            for (std::size_t const slack : {std::size_t{0}, k / 8, k / 2}) {
                auto const most = std::min(k + slack, d);
                CAPTURE(kind);
                CAPTURE(k);
                CAPTURE(slack);
                select_about(on, std::span<T const>(x), k - slack, k, most, out);
                about(k - slack, k, most);
                CHECK(out == expected);
            }
        select_about(on, std::span<T const>(x), 5, d, d, out);
        CHECK(out.size() == d);
        CHECK(out.back() == d - 1);
    }
}

TEST_CASE_TEMPLATE("one number that is not 0 anywhere makes a block, whatever it is", T, float, double) {
    host on;
    coordinates out;
    using limits = std::numeric_limits<T>;
    for (std::size_t const block : {1u, 3u, 16u, 64u, 100u, 257u})
        for (std::size_t const at : {0u, 1u, 5u, 63u, 64u, 99u, 100u, 255u, 256u, 299u}) {
            std::vector<T> x(300, T(-0.0));
            for (T const v : {limits::denorm_min(), -limits::max(), limits::quiet_NaN(), -limits::infinity()}) {
                x[at] = v;
                select_nonzero_blocks(on, std::span<T const>(x), block, out);
                CHECK(out == coordinates{static_cast<coordinate>(at / block)});
            }
            x[at] = 0;
            select_nonzero_blocks(on, std::span<T const>(x), block, out);
            CHECK(out.empty());
        }
    std::vector<T> const full(300, limits::max());  // whose sums are infinite
    select_nonzero_blocks(on, std::span<T const>(full), 100, out);
    CHECK(out == coordinates{0, 1, 2});
}

// Stretches where all blocks have one, where none has, and in between; with zeros at the beginning of blocks and
// without.
TEST_CASE_TEMPLATE("blocks that are not 0 in a long vector", T, float, double) {
    host on;
    coordinates out;
    for (std::size_t const block : {1u, 5u, 16u, 64u, 100u, 2500u}) {
        std::vector<T> x(64 * block * 9 + block / 2, T(0));
        coordinates expected;
        for (std::size_t b = 0; b * block < x.size(); ++b) {
            auto const kind = b / 64 % 9;
            std::size_t const first = b * block, count = std::min(block, x.size() - first);
            if (kind < 3 || (kind < 5 && b % 7 != 0) || (kind == 6 && b % 3 == 0))
                x[first + (kind % 2 == 0 ? 0 : key{block}.below(b, count))] = std::numeric_limits<T>::denorm_min();
            if (std::any_of(x.data() + first, x.data() + first + count, [](T v) { return v != 0; }))
                expected.push_back(static_cast<coordinate>(b));
        }
        CAPTURE(block);
        select_nonzero_blocks(on, std::span<T const>(x), block, out);
        CHECK(out == expected);
        CHECK(expected.size() > 200);
    }
}
