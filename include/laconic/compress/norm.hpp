// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <string>

#include "laconic/backend/norm.hpp"

namespace laconic {

/// The largest value of |x|_p |x|_1 / |x|_2^2 for b numbers.
inline double norm_ratio(p_norm p, double b) {
    return p == p_norm::one ? b : p == p_norm::two ? std::sqrt(b) : (1 + std::sqrt(b)) / 2;
}

namespace detail {

// ", p=1": the text of a norm other than the default.
inline std::string text_of(p_norm p) { return p == p_norm::two ? "" : p == p_norm::one ? ", p=1" : ", p=inf"; }

}  // namespace detail
}  // namespace laconic
