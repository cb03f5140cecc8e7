// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <vector>

#include "laconic/objective/optimum.hpp"

namespace laconic {

namespace detail {

// sum_j weights_j |x_j|
inline double l1_penalty(std::span<double const> weights, std::span<double const> x) {
    double sum = 0;
    for (std::size_t j = 0; j < x.size(); ++j) sum += weights[j] * std::abs(x[j]);
    return sum;
}
/// Moves x to the minimum over v of g . (v - x) + (v - x)' H (v - x) / 2 + sum_j weight_j |v_j| by coordinate descent:
/// v_j <- soft(H_jj v_j - slope_j, weight_j) / H_jj. Of a coordinate with H_jj = 0 the first two terms do not depend.
inline void l1_model_minimum(Eigen::VectorXd slope, Eigen::MatrixXd const& h, std::span<double const> weights,
                             std::span<double> x) {
    for (int sweep = 0; sweep < 20000; ++sweep) {
        double moved = 0, longest = 0;
        for (std::size_t j = 0; j < x.size(); ++j) {
            auto const at = static_cast<Eigen::Index>(j);
            double const bend = h(at, at);
            if (!(bend > 0)) {
                if (weights[j] > 0) x[j] = 0;
                continue;
            }
            double const r = bend * x[j] - slope[at];
            double const next = std::copysign(std::max(std::abs(r) - weights[j], 0.0), r) / bend, by = next - x[j];
            slope += by * h.col(at);
            x[j] = next;
            moved = std::max(moved, std::sqrt(bend) * std::abs(by));
            longest = std::max(longest, std::sqrt(bend) * std::abs(next));
        }
        if (moved <= 1e-15 * longest) return;
    }
}

}  // namespace detail

/// Moves x to a minimum of F(x) = f(x) + sum_j weights_j |x_j| for a convex f and weights of at least 0, and returns F
/// there, which is at most F at the starting point. For few coordinates and strongly correlated ones. Newton's method:
/// a step minimises the quadratic model of f with the penalty as it is, by coordinate descent, and is halved until F
/// falls (Lee, Sun, Saunders 2014). So a quadratic f, the lasso, takes one step. It ends where rounding alone moves F,
/// or after 100 steps, as where F has no minimum. Where F at x is not finite x stays. Zeros are exact.
template <HessianObjective F>
double l1_newton(F const& f, std::span<double const> weights, std::span<double> x) {
    LACONIC_EXPECTS(x.size() == f.dimension() && weights.size() == x.size());
    auto const penalty = [&](std::span<double const> v) { return detail::l1_penalty(weights, v); };
    Eigen::VectorXd slope(static_cast<Eigen::Index>(x.size()));
    Eigen::MatrixXd hessian(slope.size(), slope.size());
    double at = f.value(x) + penalty(x);
    for (int step = 0; step < 100 && std::isfinite(at); ++step) {
        f.gradient(x, std::span<double>(slope.data(), x.size()));
        f.hessian(x, hessian);
        std::vector<double> const from(x.begin(), x.end());
        auto to = from;
        detail::l1_model_minimum(slope, hessian, weights, to);
        double expected = penalty(to) - penalty(from);  // in first order, at most 0
        for (std::size_t j = 0; j < x.size(); ++j) expected += slope[static_cast<Eigen::Index>(j)] * (to[j] - from[j]);
        double next = at;
        if (expected < -1e-15 * std::abs(at))
            for (double share = 1; share > 1e-9; share /= 2) {
                for (std::size_t j = 0; j < x.size(); ++j) x[j] = from[j] + share * (to[j] - from[j]);
                next = f.value(x) + penalty(x);
                if (next <= at + 1e-4 * share * expected) break;
            }
        if (!(next < at)) {
            std::copy(from.begin(), from.end(), x.begin());
            break;
        }
        at = next;
    }
    return at;
}

}  // namespace laconic
