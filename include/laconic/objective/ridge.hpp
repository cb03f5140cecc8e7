// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <utility>

#include "laconic/objective/linear_model.hpp"

namespace laconic {

/// (z - y)^2 / 2 for any finite label. Its second derivative is 1 everywhere.
struct squared_loss {
    static constexpr double largest_bend = 1, smallest_bend = 1;
    static constexpr char const* labels = "finite";

    static bool accepts(double y) { return std::isfinite(y); }
    static std::pair<double, double> value_and_slope(double z, double y) { return {(z - y) * (z - y) / 2, z - y}; }
    static double bend(double, double) { return 1; }
};

/// Ridge regression: f(x) = (1/(2N)) |A x - y|^2 + (lambda/2) |x|^2.
template <Scalar T = double>
using ridge = linear_model<squared_loss, T>;

}  // namespace laconic
