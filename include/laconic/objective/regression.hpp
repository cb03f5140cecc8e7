// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <numbers>
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

/// log(1 + exp(-y z)) for labels -1 and +1; exact for any finite z, however large. Its second derivative is at most
/// 1/4.
struct logistic_loss {
    static constexpr double largest_bend = 0.25, smallest_bend = 0;
    static constexpr char const* labels = "-1 or +1 (binary_labels makes it so)";

    static bool accepts(double y) { return y == 1 || y == -1; }
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

/// Logistic regression with a penalty that is not convex: f(x) = (1/N) sum_j log(1 + exp(-y_j a_j . x)) + lambda sum_i
/// x_i^2 / (1 + x_i^2), y_j in {-1, +1} (Richtarik, Sokolov, Fatkhullin, EF21, 2021). L = (largest eigenvalue of
/// A'A / N) / 4 + 2 lambda, mu = -lambda / 2.
template <Scalar T = double>
using nonconvex_logistic = linear_model<logistic_loss, T, bounded_penalty>;

/// log 2 - y z / 2 + z^2 / 8 for labels -1 and +1: the Taylor polynomial of log(1 + exp(-y z)) around z = 0. Its slope
/// z / 4 - y / 2 is affine in z, so that parties which must not see labels, or compute on encrypted numbers, can use it
/// (Hardy et al., arXiv:1711.10677). It is the logistic loss to about |z|^4 / 192.
struct taylor_logistic_loss {
    static constexpr double largest_bend = 0.25, smallest_bend = 0.25;
    static constexpr char const* labels = logistic_loss::labels;

    static bool accepts(double y) { return logistic_loss::accepts(y); }
    static std::pair<double, double> value_and_slope(double z, double y) {
        return {std::numbers::ln2 - y * z / 2 + z * z / 8, z / 4 - y / 2};
    }
    static double bend(double, double) { return 0.25; }
};

}  // namespace laconic
