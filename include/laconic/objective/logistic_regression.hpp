// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <utility>

#include "laconic/core/view.hpp"
#include "laconic/objective/linear_model.hpp"

namespace laconic {

/// log(1 + exp(-y z)) for labels -1 and +1; exact for any finite z, however large. Its second derivative is at most
/// 1/4.
struct logistic_loss {
    static constexpr double largest_bend = 0.25, smallest_bend = 0;
    static constexpr char const* labels = "-1 or +1 (binary_labels makes it so)";

    static bool accepts(double y) { return y == 1 || y == -1; }

    static double value(double z, double y) { return value_and_slope(z, y).first; }

    static std::pair<double, double> value_and_slope(double z, double y) {
        double const margin = y * z, tail = std::exp(-std::abs(margin));  // in [0, 1]: nothing overflows
        return {std::max(-margin, 0.0) + std::log1p(tail), -y * (margin < 0 ? 1 : tail) / (1 + tail)};
    }

    static double bend(double z, double) {
        double const tail = std::exp(-std::abs(z));
        return tail / ((1 + tail) * (1 + tail));
    }
};

/// Logistic regression: f(x) = (1/N) sum_j log(1 + exp(-y_j a_j . x)) + (lambda/2) |x|^2, y_j in {-1, +1}.
template <Scalar T = double>
using logistic_regression = linear_model<logistic_loss, T>;

}  // namespace laconic
