// SPDX-License-Identifier: Apache-2.0
// The host's sums have known values and bits at every length, and extremes and NaN are found at every place.
#include "laconic/backend/host/reduce.hpp"

#include "support/by_key.hpp"
#include "support/everything.hpp"
#include "support/laws/compressor.hpp"

template <class T>
std::span<T const> all(std::vector<T> const& x) {
    return x;
}
template <class T>
double variance(std::vector<T> const& x, T step) {
    host on;
    return rounding_variance(on, all(x), step);
}

TEST_CASE_TEMPLATE("numbers that a reader can check", T, float, double) {
    host on;
    std::vector<T> const x{3, -4, 12, 0};
    CHECK(sum_of_magnitudes(on, all(x)) == 19);
    CHECK(sum_of_squares(on, all(x)) == 169);
    CHECK(largest_magnitude(on, all(x)) == 12);
    CHECK(first_non_finite(on, all(x)) == 4);
    std::vector<T> const none;
    CHECK(sum_of_magnitudes(on, all(none)) == 0);
    CHECK(sum_of_squares(on, all(none)) == 0);
    CHECK(largest_magnitude(on, all(none)) == 0);
    CHECK(first_non_finite(on, all(none)) == 0);
}

TEST_CASE_TEMPLATE("every length up to 70: whole numbers have exact sums, and every element counts", T, float, double) {
    host on;
    for (std::size_t d = 1; d <= 70; ++d) {
        CAPTURE(d);
        std::vector<T> x(d);
        for (std::size_t i = 0; i < d; ++i) x[i] = static_cast<T>(i % 2 ? -1.0 - double(i) : 1.0 + double(i));
        double const n = static_cast<double>(d);
        CHECK(sum_of_magnitudes(on, all(x)) == n * (n + 1) / 2);
        CHECK(sum_of_squares(on, all(x)) == n * (n + 1) * (2 * n + 1) / 6);
        for (std::size_t i = 0; i < d; ++i) {
            T const was = x[i];
            x[i] = -1000;
            REQUIRE(largest_magnitude(on, all(x)) == 1000);
            for (T const bad : {std::numeric_limits<T>::quiet_NaN(), std::numeric_limits<T>::infinity(),
                                -std::numeric_limits<T>::infinity()}) {
                x[i] = bad;
                x[d - 1] = bad;
                REQUIRE(first_non_finite(on, all(x)) == i);
            }
            x[i] = was;
            x[d - 1] = static_cast<T>((d - 1) % 2 ? -n : n);
        }
    }
}

TEST_CASE_TEMPLATE("about a centre, in units: every length up to 70, and two stretches", T, float, double) {
    host on;
    auto const lengths = [] {
        std::vector<std::size_t> all(71);
        for (std::size_t d = 0; d <= 70; ++d) all[d] = d;
        all.push_back(5001);
        return all;
    }();
    for (std::size_t const d : lengths) {
        CAPTURE(d);
        std::vector<T> x(d);
        for (std::size_t i = 0; i < d; ++i) x[i] = static_cast<T>(i) / 2;  // 0, 1, 2 .. in units of 1/2, less 7
        double const n = static_cast<double>(d), sum = n * (n - 1) / 2, squares = sum * (2 * n - 1) / 3;
        CHECK(sum_of_numbers(on, all(x), 0.5, 7) == sum - 7 * n);
        CHECK(sum_of_squares(on, all(x), 0.5, 7) == squares - 14 * sum + 49 * n);
        CHECK(sum_of_squares(on, all(x), 0.5) == squares);
    }
}

// 2^53 + 1 is no double. Elements i and i + 16 meet in one partial sum, where the ones are lost one by one; elements 1
// and 3 meet before they meet element 0, so that there a two arrives.
TEST_CASE("sums are added in the documented order") {
    host on;
    std::vector<double> x(48);
    x[0] = 0x1p53;
    x[16] = x[32] = 1;
    CHECK(sum_of_magnitudes(on, all(x)) == 0x1p53);
    x[16] = x[32] = 0;
    x[1] = x[2] = 1;
    CHECK(sum_of_magnitudes(on, all(x)) == 0x1p53);
    x[2] = 0;
    x[3] = 1;
    CHECK(sum_of_magnitudes(on, all(x)) == 0x1p53 + 2);
    x[3] = 0;
    x[17] = 1;
    CHECK(sum_of_magnitudes(on, all(x)) == 0x1p53 + 2);
}

// One rounding more or less, a product fused with a sum, another order: each changes these. g++ and clang++ with SSE2,
// AVX2, AVX-512 and without any agree on them.
TEST_CASE("sums have the same bits on every machine") {
    host on;
    auto const hex = [](double s) { return std::bit_cast<std::uint64_t>(s); };
    auto const d = laws::noise<double>(1003, 1, 9);
    std::vector<double> thirds(d);
    for (double& v : thirds) v /= 3;
    std::span<double const> const part = all(thirds);
    auto const f = laws::noise<float>(1003, 2, 9);
    CHECK(hex(sum_of_squares(on, part)) == 0x4126ab6547d711b7u);
    CHECK(hex(sum_of_squares(on, part.first(15))) == 0x40d0511eb79d1950u);
    CHECK(hex(sum_of_squares(on, part.subspan(1, 77))) == 0x40e09a636961fe98u);
    CHECK(hex(sum_of_magnitudes(on, part)) == 0x40c2e98a43509256u);
    CHECK(hex(sum_of_magnitudes(on, part.first(15))) == 0x406891c5c783eaaau);
    CHECK(hex(sum_of_squares(on, all(f))) == 0x41583dbbad59d607u);
    CHECK(hex(sum_of_magnitudes(on, all(f))) == 0x40d99509e3d720c0u);
}

TEST_CASE("squares beyond the range are infinite or 0, and magnitudes never are") {
    host on;
    std::vector<double> const huge(20, 1e200), tiny(20, 1e-200);
    CHECK(std::isinf(sum_of_squares(on, all(huge))));
    CHECK(sum_of_squares(on, all(tiny)) == 0);
    CHECK(sum_of_magnitudes(on, all(huge)) == doctest::Approx(2e201));
    std::vector<float> const f(20, std::numeric_limits<float>::max());
    CHECK(sum_of_squares(on, all(f)) == doctest::Approx(20 * 0x1p256));
    CHECK(largest_magnitude(on, all(f)) == std::numeric_limits<float>::max());
}

TEST_CASE_TEMPLATE("zero with a sign and subnormal numbers are numbers", T, float, double) {
    host on;
    T const tiny = std::numeric_limits<T>::denorm_min();
    std::vector<T> x(33, T(-0.0));
    CHECK_FALSE(std::signbit(largest_magnitude(on, all(x))));
    x[20] = -tiny;
    CHECK(largest_magnitude(on, all(x)) == tiny);
    CHECK(sum_of_magnitudes(on, all(x)) == static_cast<double>(tiny));
    CHECK(first_non_finite(on, all(x)) == 33);
}

TEST_CASE_TEMPLATE("least and largest, for every length and place", T, float, double) {
    host on;
    reference plain;
    for (std::size_t d = 1; d <= 40; ++d)
        for (std::size_t i = 0; i < d; ++i) {
            std::vector<T> x(d, T(2));
            x[i] = -3;
            x[(i + 1) % d] = 7;
            auto const expected = d == 1 ? std::pair<T, T>(7, 7) : std::pair<T, T>(-3, 7);
            CHECK(least_and_largest(on, all(x)) == expected);
            CHECK(least_and_largest(plain, all(x)) == expected);
        }
    for (std::size_t d = 1; d <= 40; ++d) {
        std::vector<T> x(d, T(-0.0));
        x[d / 2] = 0;
        auto const same_sign = [&](auto& backend) {
            auto const [least, largest] = least_and_largest(backend, all(x));
            return !std::signbit(least) && !std::signbit(largest);
        };
        CHECK(same_sign(on));
        CHECK(same_sign(plain));
    }
    CHECK(least_and_largest(on, all(std::vector<T>(20, T(-5)))) == std::pair<T, T>(-5, -5));
    using limits = std::numeric_limits<T>;
    for (T const odd : {limits::quiet_NaN(), limits::infinity(), -limits::infinity()})
        for (std::size_t d = 1; d <= 40; ++d)
            for (std::size_t i = 0; i < d; ++i) {
                std::vector<T> x(d, T(2));
                x[i] = odd;
                auto const both_nan = [&](std::pair<T, T> r) { return std::isnan(r.first) && std::isnan(r.second); };
                CHECK(both_nan(least_and_largest(on, all(x))));
                CHECK(both_nan(least_and_largest(plain, all(x))));
            }
}

TEST_CASE_TEMPLATE("a variance by hand: quarters of a step above, below and on the grid", T, float, double) {
    CHECK(variance<T>({}, T(1)) == 0);
    CHECK(variance<T>({0, 2, -4, 6}, T(2)) == 0);
    CHECK(variance<T>({.5}, T(2)) == 3. / 16);
    CHECK(variance<T>({-1.5}, T(2)) == 3. / 16);
    CHECK(variance<T>({1, -3, 5}, T(2)) == 3. / 4);
    CHECK(variance<T>({2.5, 65534.5}, T(2)) == 2 * 3. / 16);
    T const tiny = std::numeric_limits<T>::denorm_min();
    CHECK(variance<T>({tiny, -2 * tiny, 3 * tiny}, 2 * tiny) == .5);
}

TEST_CASE_TEMPLATE("every element of every length counts for a variance", T, float, double) {
    for (std::size_t d = 1; d <= 40; ++d) {
        std::vector<T> x(d, T(3));
        CHECK(variance(x, T(2)) == double(d) / 4);
        for (std::size_t i = 0; i < d; ++i) {
            x[i] = 4;
            CHECK(variance(x, T(2)) == double(d - 1) / 4);
            x[i] = 3;
        }
    }
}

// Of many roundings of the same numbers.
TEST_CASE_TEMPLATE("it is the variance of round_to_levels", T, float, double) {
    host on;
    T const step(.125);
    std::vector<T> x(37);
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<T>(key{3}.uniform(i) - .5) * 20;
    std::vector<std::int16_t> codes(x.size());
    double sum = 0;
    std::size_t const runs = 4000;
    for (std::uint64_t r = 0; r < runs; ++r) {
        round_to_levels(on, std::span<T const>(x), step, 100, key{r}, 0, std::span(codes));
        for (std::size_t i = 0; i < x.size(); ++i) {
            double const off = double(codes[i]) - double(x[i]) / double(step);
            sum += off * off / runs;
        }
    }
    CHECK(variance(x, step) == doctest::Approx(sum).epsilon(.01));
}
