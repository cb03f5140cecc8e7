// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Eigen/Core>
#include <span>

#include "laconic/core/view.hpp"
#include "laconic/objective/objective.hpp"

/// Objectives with second derivatives.
namespace laconic {

/// An objective with f.hessian(x, H): writes the d x d Hessian at x to the Eigen::MatrixXd H, both triangles.
template <class F, class T = double>
concept HessianObjective = Objective<F, T> && requires(F const& f, std::span<T const> x, Eigen::MatrixXd& h) {
    f.hessian(x, h);
};

/// An objective with f.hessian_times(x, v, out): writes (Hessian at x) v to out. The three are spans of d numbers, of
/// which none overlap.
template <class F, class T = double>
concept HessianProductObjective = Objective<F, T> && requires(F const& f, std::span<T const> x, std::span<T> out) {
    f.hessian_times(x, x, out);
};

}  // namespace laconic
