// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <string>

#include "laconic/backend/norm.hpp"

namespace laconic {

/// The most that |x|_p |x|_1 / |x|_2^2 can be for b numbers.
inline double norm_ratio(norm p, double b) {
    return p == norm::one ? b : p == norm::two ? std::sqrt(b) : (1 + std::sqrt(b)) / 2;
}

namespace detail {

// ", p=1": what is written of a norm other than the default.
inline std::string spelled(norm p) { return p == norm::two ? "" : p == norm::one ? ", p=1" : ", p=inf"; }

}  // namespace detail
}  // namespace laconic
