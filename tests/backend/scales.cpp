// SPDX-License-Identifier: Apache-2.0
//
// A grid covers its scale or ends at its range; a unit takes a number into [1/2, 1); bins descend from the largest.
//
// Norms and deviations are right where squares leave the range of the type, and never hide NaN or infinity.
#include "laconic/backend/scales.hpp"

#include "support/everything.hpp"

using namespace laconic::kernels;

TEST_CASE_TEMPLATE("the grid covers the scale, and its ends are finite", T, float, double) {
    using limits = std::numeric_limits<T>;
    CHECK(grid_step(T(1), 4) == T(0.25));
    T const tiny = limits::denorm_min();
    for (int levels : {1, 2, 3, 4, 5, 7, 10, 100, 255, 32767})
        for (T const scale : {tiny, 2 * tiny, 3 * tiny, 5 * tiny, 1000 * tiny, limits::min(), T(1), T(0.7), T(1e10)}) {
            CAPTURE(levels);
            CAPTURE(scale);
            T const step = grid_step(scale, levels);
            CHECK(step > 0);
            CHECK(step * static_cast<T>(levels) >= scale);
        }
}

TEST_CASE_TEMPLATE("a closing step ends at the range, from above in quotients", T, float, double) {
    using limits = std::numeric_limits<T>;
    CHECK(closing_step(T(3), 3) == 1);
    CHECK(closing_step(T(0), 3) == 0);
    for (int const levels : {1, 3, 7, 15, 31, 63, 127, 255})
        for (std::uint64_t k = 0; k < 300; ++k) {
            T const range = std::ldexp(static_cast<T>(0.5 + key{k}.uniform(0)), static_cast<int>(k % 200) - 100);
            T const step = closing_step(range, levels);
            CHECK(range / step >= static_cast<T>(levels));
            CHECK(std::abs(step * static_cast<T>(levels) / range - 1) <= 2 * limits::epsilon());
        }
    T const tiny = limits::denorm_min();
    CHECK(closing_step(8 * tiny, 3) == 3 * tiny);
    CHECK(closing_step(8 * tiny, 255) == tiny);
}

TEST_CASE_TEMPLATE("a power of two that takes a number into [1/2, 1)", T, float, double) {
    CHECK(unit_scale(T(1)) == T(0.5));
    CHECK(unit_scale(T(0.5)) == 1);
    CHECK(unit_scale(T(0.75)) == 1);
    CHECK(unit_scale(T(100)) == T(1) / 128);
    CHECK(unit_scale(T(0)) == 1);
    for (T const v : {T(3), T(1e-30), T(1e30), T(0.1)}) {
        CHECK(v * unit_scale(v) >= T(0.5));
        CHECK(v * unit_scale(v) < 1);
        CHECK(v * unit_scale(v) / unit_scale(v) == v);
    }
}

TEST_CASE("no further than where squares and sums are safe") {
    CHECK(unit_scale(std::numeric_limits<double>::denorm_min()) == 0x1p1000);
    CHECK(unit_scale(std::numeric_limits<double>::max()) == 0x1p-1000);
    CHECK(unit_scale(std::numeric_limits<float>::denorm_min()) == 0x1p104f);
    CHECK(unit_scale(std::numeric_limits<float>::max()) == 0x1p-104f);
}

TEST_CASE("the bins from that of 1, of 1.5 and of 2 - 2^-30 down, by hand") {
    magnitude_bins const one(1), half(1.5), two(2 - 0x1p-30);
    CHECK(one.square(0) == 257. / 256);
    CHECK(one.square(1) == 511. / 512);  // [511 / 512, 1)
    CHECK(one.square(2) == 511. * 510 / (512 * 512));
    CHECK(one.square(256) == 257. / 1024);
    CHECK(half.square(0) == 384. * 385 / 65536);
    CHECK(half.square(128) == 257. / 256);
    CHECK(half.square(129) == 511. / 512);
    CHECK(two.square(0) == 511. / 128);
    CHECK(two.square(255) == 257. / 256);
    CHECK(one.square(magnitude_bins::count - 1) == 257. * 258 / 65536 * 0x1p-96);
}

TEST_CASE("they descend by a factor of 1 + 2^-7 at most, and know no scale") {
    for (double const largest : {1., 1.7, 3., 1e300, 5e-324, double(std::numeric_limits<float>::max())}) {
        magnitude_bins const bins(largest), twice(largest / 2);
        for (std::size_t b = 1; b < magnitude_bins::count; ++b) {
            double const ratio = bins.square(b - 1) / bins.square(b);
            REQUIRE((ratio > 1 && ratio <= 1 + 0x1p-7));
            if (largest > 1e-300) REQUIRE(bins.square(b) == twice.square(b));
        }
    }
}

template <class T>
T of(p_norm p, std::vector<T> const& x) {
    host on;
    return norm_of(on, p, std::span<T const>(x));
}

TEST_CASE_TEMPLATE("numbers that a reader can check", T, float, double) {
    std::vector<T> const x{3, -4, 12, 0};
    CHECK(of(p_norm::one, x) == 19);
    CHECK(of(p_norm::two, x) == 13);
    CHECK(of(p_norm::largest, x) == 12);
    for (p_norm p : {p_norm::one, p_norm::two, p_norm::largest}) {
        CHECK(of(p, std::vector<T>{}) == 0);
        CHECK(of(p, std::vector<T>(5, T(-0.0))) == 0);
        CHECK(of(p, std::vector<T>{T(-0.1)}) == T(0.1));
    }
}

TEST_CASE("squares out of a double's range") {
    CHECK(of<double>(p_norm::two, {3e200, -4e200}) == doctest::Approx(5e200).epsilon(1e-15));
    CHECK(of<double>(p_norm::two, {3e-200, -4e-200}) == doctest::Approx(5e-200).epsilon(1e-15).scale(0));
    CHECK(of<float>(p_norm::two, {3e-30f, -4e-30f}) == doctest::Approx(5e-30).scale(0));
    double const max = std::numeric_limits<double>::max(), tiny = std::numeric_limits<double>::denorm_min();
    CHECK(std::isinf(of<double>(p_norm::two, {max, max})));
    CHECK(of<double>(p_norm::largest, {max, -max}) == max);
    CHECK(of<double>(p_norm::two, {0, 3 * tiny}) == 3 * tiny);
}

// Whether squares leave the range of floats or not, and where they just do.
TEST_CASE("a 2-norm of floats is that of the squares in full, nearly, and not below the largest") {
    key const from{3};
    for (int e = -149; e <= 120; ++e)
        for (std::size_t const d : {1u, 2u, 31u, 512u, 5000u}) {
            CAPTURE(e);
            CAPTURE(d);
            std::vector<float> x(d);
            for (std::size_t i = 0; i < d; ++i) x[i] = static_cast<float>(std::ldexp(2 * from.uniform(i) - 1, e));
            double squares = 0;
            float largest = 0;
            for (float const v : x) {
                squares += static_cast<double>(v) * static_cast<double>(v);
                largest = std::max(largest, std::abs(v));
            }
            float const n = of(p_norm::two, x);
            CHECK(n >= largest);
            // Below the smallest normal number, a number is rounded to a multiple of the least one.
            CHECK(std::abs(static_cast<double>(n) - std::sqrt(squares)) <= std::sqrt(squares) * 0x1p-17 + 0x1p-149);
        }
    // One large number alone, which a rounded root must not fall below.
    for (std::uint32_t i = 0; i < 2000; ++i) {
        float const v = static_cast<float>(std::ldexp(1 + from.uniform(i), static_cast<int>(i % 140) - 80));
        CHECK(of<float>(p_norm::two, {v}) == v);
        CHECK(of<float>(p_norm::two, std::vector<float>{v * 1e-10f, v, 0}) >= v);
    }
    // Squares that would be subnormal floats, or infinite ones, beside others that are not.
    CHECK(of<float>(p_norm::two, {3e-21f, 4e-21f}) == doctest::Approx(5e-21).scale(0));
    CHECK(of<float>(p_norm::two, {3e20f, 4e20f}) == doctest::Approx(5e20));
    CHECK(of<float>(p_norm::two, {3e20f, 4}) == doctest::Approx(3e20));
}

TEST_CASE_TEMPLATE("a deviation: far from 0, and at both ends of the range", T, float, double) {
    host on;
    auto const of_these = [&](std::vector<T> const& x) { return deviation_of(on, std::span<T const>(x)); };
    CHECK(of_these({}) == 0);
    CHECK(of_these({T(0.1)}) == 0);
    CHECK(of_these(std::vector<T>(1000, T(0.1))) < 1e-17);
    CHECK(of_these({1, 1, 1, 9}) == doctest::Approx(std::sqrt(12.)).epsilon(1e-15));
    CHECK(of_these({1, 1, 1, -9}) == doctest::Approx(std::sqrt(75. / 4)).epsilon(1e-15));
    using limits = std::numeric_limits<T>;
    // Whole numbers with 1 between them up to where there are no others: the deviation is 1/2 of that.
    for (double const unit : {static_cast<double>(limits::denorm_min()), static_cast<double>(limits::min()), 1.,
                              std::ldexp(1., limits::max_exponent - limits::digits)})
        for (double const far : {0., 1000., std::ldexp(1., limits::digits) - 2}) {
            CAPTURE(unit);
            CAPTURE(far);
            std::vector<T> x(1001);
            for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<T>((far + double(i % 2)) * unit);
            double const half = std::sqrt(500. * 501.) / 1001;
            double const rounded = static_cast<double>(std::numeric_limits<double>::denorm_min()) / unit;
            CHECK(std::abs(of_these(x) / unit - half) <= 1e-9 + rounded);
        }
    for (T const bad : {limits::infinity(), -limits::infinity(), limits::quiet_NaN()})
        CHECK_FALSE(std::isfinite(of_these({1, bad, 2})));
}

TEST_CASE_TEMPLATE("what is not finite is not hidden, not among zeros either", T, float, double) {
    using limits = std::numeric_limits<T>;
    for (p_norm p : {p_norm::one, p_norm::two, p_norm::largest})
        for (T const bad : {limits::infinity(), -limits::infinity(), limits::quiet_NaN()})
            for (std::size_t d : {1u, 2u, 20u, 33u})
                for (std::size_t i : {std::size_t{0}, d / 2, d - 1})
                    for (T const rest : {T(0), T(3)}) {
                        std::vector<T> x(d, rest);
                        x[i] = bad;
                        CHECK_FALSE(std::isfinite(of(p, x)));
                    }
}

using list = std::vector<std::tuple<std::size_t, std::size_t, std::size_t>>;

// (number, first coordinate, length) of each bucket of d values, which are their own coordinates.
list cut(std::size_t d, std::size_t bucket) {
    std::vector<double> x(d);
    for (std::size_t i = 0; i < d; ++i) x[i] = static_cast<double>(i);
    list all;
    laconic::detail::each_bucket(std::span<double const>(x), bucket,
                                 [&](std::size_t b, std::size_t first, std::span<double const> part) {
                                     CHECK(part.front() == static_cast<double>(first));
                                     all.emplace_back(b, first, part.size());
                                 });
    return all;
}

TEST_CASE("seven values in buckets of three, of all, of more than all; none") {
    CHECK(cut(7, 3) == list{{0, 0, 3}, {1, 3, 3}, {2, 6, 1}});
    CHECK(cut(6, 3) == list{{0, 0, 3}, {1, 3, 3}});
    CHECK(cut(7, 7) == list{{0, 0, 7}});
    CHECK(cut(7, 100) == list{{0, 0, 7}});
    CHECK(cut(7, std::numeric_limits<std::size_t>::max()) == list{{0, 0, 7}});
    CHECK(cut(2, 1) == list{{0, 0, 1}, {1, 1, 1}});
    CHECK(cut(1, 1) == list{{0, 0, 1}});
    CHECK(cut(0, 3).empty());
}
