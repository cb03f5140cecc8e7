// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "laconic/core/view.hpp"

namespace laconic::kernels {

/// The power of two that takes `largest` into [1/2, 1), so that numbers up to it can be squared and added: exact, and
/// therefore free. No further than 2^104 for float and 2^1000 for double, up or down; 1 for 0.
template <Scalar T>
constexpr T unit_scale(T largest) {
    constexpr int furthest = std::numeric_limits<T>::max_exponent - 24;
    int exponent = 0;
    std::frexp(largest, &exponent);
    return std::ldexp(T(1), std::clamp(-exponent, -furthest, furthest));
}

}  // namespace laconic::kernels
