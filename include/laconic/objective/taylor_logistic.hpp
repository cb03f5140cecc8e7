// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <numbers>
#include <utility>

#include "laconic/objective/linear_model.hpp"

namespace laconic {

/// log 2 - y z / 2 + z^2 / 8 for labels -1 and +1: the Taylor polynomial of log(1 + exp(-y z)) around z = 0. Its slope
/// z / 4 - y / 2 is affine in z, so that parties which must not see labels, or compute on encrypted numbers, can use it
/// (Hardy et al., arXiv:1711.10677). It is the logistic loss to about |z|^4 / 192.
struct taylor_logistic_loss {
    static constexpr double largest_bend = 0.25, smallest_bend = 0.25;
    static constexpr char const* labels = "-1 or +1 (binary_labels makes it so)";

    static bool accepts(double y) { return y == 1 || y == -1; }
    static double value(double z, double y) { return std::numbers::ln2 - y * z / 2 + z * z / 8; }
    static std::pair<double, double> value_and_slope(double z, double y) { return {value(z, y), z / 4 - y / 2}; }
    static double bend(double, double) { return 0.25; }
};

}  // namespace laconic
