// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <limits>

#include "laconic/core/view.hpp"

namespace laconic {

/// The least step of a grid {0, .., levels} x step that covers [0, scale]: scale / levels, rounded up where it must be.
template <Scalar T>
constexpr T grid_step(T scale, int levels) {
    T const step = scale / T(levels);
    return step * T(levels) < scale ? std::nextafter(step, std::numeric_limits<T>::infinity()) : step;
}

/// The step of a grid {0, .., levels} x step that ends at `range` up to rounding, with range / step >= levels, so that
/// the end of the range always gets the last level. Subnormal steps are too coarse for that: there the grid covers the
/// range, as that of grid_step. 0 for a range of 0.
template <Scalar T>
constexpr T closing_step(T range, int levels) {
    T const step = range / T(levels);
    if (step < std::numeric_limits<T>::min()) return grid_step(range, levels);
    return range / step < T(levels) ? std::nextafter(step, T(0)) : step;
}

}  // namespace laconic
