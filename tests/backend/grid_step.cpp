// SPDX-License-Identifier: Apache-2.0
// A grid of `grid_step` covers its scale and one of `closing_step` ends at its range, for subnormal numbers too.
#include "laconic/backend/grid_step.hpp"

#include "support/everything.hpp"

using namespace laconic;
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
