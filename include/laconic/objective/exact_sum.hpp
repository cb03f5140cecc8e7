// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>

#include "laconic/core/contract.hpp"

namespace laconic {

/// A sum of doubles that stays true down to its last digits: what each addition rounds away is summed beside (two-sum,
/// Knuth, The Art of Computer Programming 2, 4.2.2). So f(x) - f* means something where f(x) has a million summands.
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
