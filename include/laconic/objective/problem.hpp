// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "laconic/core/contract.hpp"

namespace laconic {

/// The constants that theorems need of f = (1/workers) sum_i f_i, where each f_i is smooth, and in most of them convex;
/// f_i may be a mean of m functions f_ij. A zero is an unknown constant. All are the same on all ranks but
/// own_smoothness.
struct problem {
    std::size_t dimension = 0;
    int workers = 1;
    double smoothness = 0;                 ///< L: that of f
    double strong_convexity = 0;           ///< mu: that of f; below 0 where f is not convex
    double largest_smoothness = 0;         ///< max L_i
    double mean_square_smoothness = 0;     ///< sqrt(mean L_i^2)
    double least_strong_convexity = 0;     ///< min mu_i, which every f_i has; below 0 where one is not convex
    std::size_t samples = 0;               ///< m: the most samples that a worker has
    double largest_sample_smoothness = 0;  ///< max L_ij, over workers and samples
    double own_smoothness = 0;             ///< L_i: that of this rank's own f_i

    bool operator==(problem const&) const = default;
};

}  // namespace laconic
