// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>

#include "laconic/backend/norm.hpp"

namespace laconic::detail {

/// The largest value of |x|_p |x|_1 / |x|_2^2 for b numbers.
inline double norm_ratio(p_norm p, double b) {
    return p == p_norm::one ? b : p == p_norm::two ? std::sqrt(b) : (1 + std::sqrt(b)) / 2;
}

}  // namespace laconic::detail
