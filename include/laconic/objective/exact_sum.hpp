// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>

#include "laconic/core/contract.hpp"

namespace laconic {

/// A sum of doubles that is accurate to its last digits: the rounding error of each addition is summed separately
/// (two-sum, Knuth, The Art of Computer Programming 2, 4.2.2). So f(x) - f* has correct digits where f(x) has a million
/// summands.
struct exact_sum {
    double sum = 0, lost = 0;

    void add(double v) {
        double const next = sum + v, back = next - sum;
        lost += (sum - (next - back)) + (v - back);
        sum = next;
    }
    double total() const { return std::isfinite(sum) ? sum + lost : sum; }
};

}  // namespace laconic
