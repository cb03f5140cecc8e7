// SPDX-License-Identifier: Apache-2.0
//
// A grid covers its scale or ends at its range; a unit takes a number into [1/2, 1); bins descend from the largest.
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
