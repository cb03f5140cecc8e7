// SPDX-License-Identifier: Apache-2.0
#include "laconic/backend/grid_step.hpp"

#include <doctest/doctest.h>

#include <limits>

using namespace laconic;

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
