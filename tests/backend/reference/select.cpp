// SPDX-License-Identifier: Apache-2.0
// Host and reference choose the same coordinates, with ties, zeros, NaN and blocks that are nearly equal.
#include "laconic/backend/reference/select.hpp"

#include "support/everything.hpp"

using namespace laconic;
using namespace laconic::kernels;

TEST_CASE_TEMPLATE("samples agree for every count, below half and above", T, float) {
    host fast;
    reference plain;
    std::vector<coordinate> a, b;
    for (std::size_t const d : {0u, 1u, 2u, 7u, 100u})
        for (std::size_t k = 0; k <= d; ++k) {
            sample(fast, key{d}.child(k), d, k, a);
            sample(plain, key{d}.child(k), d, k, b);
            CHECK(a.size() == k);
            CHECK(a == b);
            double const p = d == 0 ? 1 : static_cast<double>(k) / static_cast<double>(d);
            sample_each(fast, key{d}.child(k), d, p, a);
            sample_each(plain, key{d}.child(k), d, p, b);
            CHECK(a == b);
            if (p == 1) CHECK(a.size() == d);
            if (p == 0) CHECK(a.empty());
        }
}

TEST_CASE_TEMPLATE("selections agree, with ties, zeros and numbers that are not finite", T, float, double) {
    host fast;
    reference plain;
    std::vector<coordinate> a, b;
    for (std::uint64_t t = 0; t < 200; ++t) {
        key const k = key{t};
        std::vector<T> x(k.below(0, 90));
        for (std::size_t i = 0; i < x.size(); ++i) {
            double const u = k.uniform(10 + i);
            x[i] = t % 3 == 0 ? static_cast<T>(std::floor(6 * u) - 3) : static_cast<T>(std::tan(3 * (u - 0.5)));
            if (t % 5 == 0 && u > 0.95) x[i] = u > 0.97 ? INFINITY : NAN;
        }
        std::span<T const> const v(x);
        std::size_t const n = k.below(1, x.size() + 1), block = 1 + k.below(2, 10);
        auto const same = [&](auto run) {
            run(fast, a);
            run(plain, b);
            CHECK(a == b);
        };
        same([&](auto& on, auto& out) { select_largest(on, v, n, out); });
        same([&](auto& on, auto& out) { select_about(on, v, n - n / 8, n, std::min(x.size(), n + n / 8), out); });
        same([&](auto& on, auto& out) { select_about(on, v, n, n, n, out); });
        same([&](auto& on, auto& out) { select_about(on, v, n / 2, n, std::min(x.size(), 2 * n), out); });
        same([&](auto& on, auto& out) { select_above(on, v, T(1.5), out); });
        same([&](auto& on, auto& out) { select_above(on, v, v, out); });
        same([&](auto& on, auto& out) { select_nonzero_blocks(on, v, block, out); });
        if (t % 5 != 0) {
            std::size_t const blocks = x.size() / block + (x.size() % block != 0);
            same([&](auto& on, auto& out) { select_largest_blocks(on, v, block, k.below(3, blocks + 1), out); });
        }
        if (t % 5 != 0) {
            std::vector<T> sorted, defined;
            sort_magnitudes(fast, v, sorted);
            sort_magnitudes(plain, v, defined);
            CHECK(sorted == defined);
            auto const bound = t % 3 == 0 || sorted.empty() ? T(0) : sorted[k.below(4, sorted.size())];
            same([&](auto& on, auto& out) { sample_in_proportion(on, v, bound, k, out); });
        }
        if (T const largest = largest_magnitude(plain, v); largest > 0) {  // all are finite
            std::vector<std::uint32_t> counts(1 + k.below(5, magnitude_bins::count)), defined(counts.size(), 9);
            for (T const scale :
                 {T(1), std::numeric_limits<T>::denorm_min(), std::numeric_limits<T>::max() / 2 / largest}) {
                auto y = x;
                for (T& u : y) u *= scale;
                T const most = largest_magnitude(plain, std::span<T const>(y));
                if (!(most > 0)) continue;
                count_by_magnitude(fast, std::span<T const>(y), most, std::span<std::uint32_t>(counts));
                count_by_magnitude(plain, std::span<T const>(y), most, std::span<std::uint32_t>(defined));
                CHECK(counts == defined);
            }
        }
        for (std::size_t const unit : {std::size_t{1}, block}) {
            std::vector<T> c, e;
            std::vector<coordinate> places;
            for (std::size_t u = 0; u * unit < x.size(); u += 2) places.push_back(static_cast<coordinate>(u));
            gather(fast, v, std::span<coordinate const>(places), unit, T(1), c);
            gather(plain, v, std::span<coordinate const>(places), unit, T(1), e);
            CHECK(std::equal(c.begin(), c.end(), e.begin(), e.end(),
                             [](T p, T q) { return p == q || (std::isnan(p) && std::isnan(q)); }));
        }
    }
}

// Blocks that are the same numbers in other orders, whose sums differ in their last bits, if at all; some that are
// far larger, far smaller, or 0; and others. At all scales, as squares may leave the range.
TEST_CASE_TEMPLATE("the largest blocks agree where many are nearly equal", T, float, double) {
    host fast;
    reference plain;
    std::vector<coordinate> a, b;
    constexpr std::size_t block = 40, blocks = 24;
    std::vector<T> x(block * blocks - 3);
    for (std::size_t i = 0; i < x.size(); ++i) {
        std::size_t const n = i / block, j = i % block;
        double const v = 1 + key{1}.uniform((j * (2 * n + 1)) % block);
        x[i] = static_cast<T>(n == 2 ? 0 : n == 3 ? v * 1e-30 : n == 4 ? v * 30 : n < 12 ? v : 1 + key{2}.uniform(i));
    }
    double const largest = std::numeric_limits<T>::max() / 128, least = std::numeric_limits<T>::denorm_min();
    for (double const scale : {1.0, 0.3, largest, std::sqrt(largest), std::sqrt(least), 16 * least, 0.0})
        for (T const extra : {T(1), T(0), std::numeric_limits<T>::infinity(), std::numeric_limits<T>::quiet_NaN()}) {
            auto y = x;
            for (T& v : y) v = static_cast<T>(v * scale);
            y[7 * block + 5] *= extra;
            CAPTURE(scale);
            CAPTURE(extra);
            for (std::size_t k = 0; k <= blocks; ++k) {
                select_largest_blocks(fast, std::span<T const>(y), block, k, a);
                select_largest_blocks(plain, std::span<T const>(y), block, k, b);
                CHECK(a == b);
            }
        }
}

// Blocks of the same numbers in other orders: their sums of squares are equal except for rounding, and which are larger
// depends on whether numbers are divided by the largest before they are squared.
TEST_CASE("blocks of doubles that are nearly equal") {
    host fast;
    reference plain;
    constexpr std::size_t block = 100, blocks = 60;
    int moved = 0;
    for (std::uint64_t n = 0; n < 6; ++n) {
        key const from = key{77}.child(n);
        std::vector<double> x(block * blocks);
        for (std::size_t i = 0; i < x.size(); ++i) {
            std::size_t const b = i / block, j = i % block;
            x[i] = from.uniform((j * (2 * b + 1) * 11 + 7 * b) % block) - 0.5;
        }
        if (n % 2 == 1) x[3] = 9;  // one is certainly larger
        std::vector<double> plain_sums(blocks);
        for (std::size_t b = 0; b < blocks; ++b)
            plain_sums[b] = sum_of_squares(plain, std::span<double const>(x).subspan(b * block, block));
        for (std::size_t k = 1; k < blocks; ++k) {
            std::vector<coordinate> a, b, undivided;
            select_largest_blocks(fast, std::span<double const>(x), block, k, a);
            select_largest_blocks(plain, std::span<double const>(x), block, k, b);
            REQUIRE(a == b);
            select_largest(plain, std::span<double const>(plain_sums), k, undivided);
            moved += a != undivided;
        }
    }
    CHECK(moved > 30);
}
