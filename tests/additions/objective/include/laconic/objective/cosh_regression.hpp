// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <utility>

#include "laconic/core/view.hpp"
#include "laconic/objective/linear_model.hpp"

namespace laconic {

/// log cosh(z - y) for any finite label: its second derivative is at most 1.
struct cosh_loss {
    static constexpr double largest_bend = 1, smallest_bend = 0;
    static constexpr char const* labels = "finite";

    static bool accepts(double y) { return std::isfinite(y); }
    static double value(double z, double y) {
        double const r = std::abs(z - y);
        return r + std::log1p(std::exp(-2 * r)) - std::log(2.0);
    }
    static std::pair<double, double> value_and_slope(double z, double y) { return {value(z, y), std::tanh(z - y)}; }
    static double bend(double z, double y) { return 1 - std::tanh(z - y) * std::tanh(z - y); }
};

/// f(x) = (1/N) sum_j log cosh(a_j . x - y_j) + (lambda/2) |x|^2.
template <Scalar T = double>
using cosh_regression = linear_model<cosh_loss, T>;

}  // namespace laconic
