// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "laconic/core/view.hpp"
#include "laconic/objective/linear_model.hpp"
#include "laconic/objective/logistic_regression.hpp"
#include "laconic/objective/penalty.hpp"

namespace laconic {

/// Logistic regression with a penalty that is not convex: f(x) = (1/N) sum_j log(1 + exp(-y_j a_j . x)) + lambda sum_i
/// x_i^2 / (1 + x_i^2), y_j in {-1, +1} (Richtarik, Sokolov, Fatkhullin, EF21, 2021). L = (largest eigenvalue of
/// A'A / N) / 4 + 2 lambda, mu = -lambda / 2.
template <Scalar T = double>
using nonconvex_logistic = linear_model<logistic_loss, T, bounded_penalty>;

}  // namespace laconic
