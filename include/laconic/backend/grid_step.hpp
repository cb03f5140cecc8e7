// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <limits>

#include "laconic/core/view.hpp"

namespace laconic {

/// The least step of a grid {0, .., levels} x step that covers [0, scale]: scale / levels, rounded up where it must be.
template <Scalar T>
T grid_step(T scale, int levels) {
    T const step = scale / T(levels);
    return step * T(levels) < scale ? std::nextafter(step, std::numeric_limits<T>::infinity()) : step;
}

}  // namespace laconic
