// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>

#include "laconic/core/contract.hpp"
#include "laconic/core/view.hpp"

namespace laconic {

/// The loss log sum_c exp(z_c) - z_y, where z are the predictions for k >= 1 classes and y < k is the right one.
/// Replaces z by the loss's slopes: p_c = exp(z_c) / sum exp(z), less 1 at y. Exact for any finite z, however large;
/// value and slopes keep their digits where they are small, too. Convex in z; its Hessian diag(p) - p p' is at most
/// 1/2.
template <Scalar T>
double cross_entropy(std::span<T> z, std::size_t y) {
    LACONIC_EXPECTS(y < z.size());
    auto const best = static_cast<std::size_t>(std::max_element(z.begin(), z.end()) - z.begin());
    double const top = double(z[best]), behind = top - double(z[y]);
    double others = 0, wrong = 0;  // sums of exp(z_c - top): without the best class, whose term is 1; without y
    for (std::size_t c = 0; c < z.size(); ++c) {
        double const e = c == best ? 1 : std::exp(double(z[c]) - top);
        others += c == best ? 0 : e;
        wrong += c == y ? 0 : e;
        z[c] = static_cast<T>(e);
    }
    for (T& e : z) e = static_cast<T>(double(e) / (1 + others));
    z[y] = static_cast<T>(-wrong / (1 + others));
    return std::log1p(others) + behind;
}

}  // namespace laconic
