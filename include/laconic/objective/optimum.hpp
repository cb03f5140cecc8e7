// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "laconic/core/error.hpp"
#include "laconic/core/text.hpp"
#include "laconic/core/dependent.hpp"
#include "laconic/objective/hessian.hpp"
#include "laconic/objective/objective.hpp"

namespace laconic {

/// The objectives that find_optimum takes: either of the two.
template <class F>
concept NewtonObjective = HessianObjective<F> || HessianProductObjective<F>;

/// The minimum of an objective, as far as double precision goes.
struct optimum {
    std::vector<double> x;
    double value = 0;
    double gradient_norm = 0;  // at x, Euclidean
    int iterations = 0;        // the Newton steps taken
};

namespace detail {

// The Newton step -H^-1 g by Cholesky; a matrix that is singular in double precision is lifted until it is not. (A
// template in Matrix, so that only its callers compile a Cholesky factorization.)
template <class Matrix, class Vector>
Vector dense_step(Matrix& h, Vector const& g) {
    double const scale = h.trace() / double(h.rows());
    Eigen::LLT<Matrix> factors(h);
    // ComputationInfo{} is Success, which X11's headers define as a macro.
    for (double lift = 1e-15; factors.info() != Eigen::ComputationInfo{} && lift < 1; lift *= 10) {
        h.diagonal().array() += lift * scale;
        factors.compute(h);
    }
    return factors.solve(-g);
}

// The same by conjugate gradients, as exact as the outer iteration can use it (Dembo, Eisenstat, Steihaug 1982);
// apply(v, out) writes H v to out.
template <class Apply, class Vector>
Vector product_step(Apply&& apply, Vector const& g) {
    Vector step = Vector::Zero(g.size()), residual = -g, direction = residual, image(g.size());
    double square = residual.squaredNorm();
    double const norm = std::sqrt(square), goal = norm * std::min(0.1, std::max(norm, 1e-8));
    for (int i = 0; i < 5000 && std::sqrt(square) > goal; ++i) {
        apply(direction, image);
        double const bend = direction.dot(image);
        if (!(bend > 0)) break;
        step += square / bend * direction;
        residual -= square / bend * image;
        double const next = residual.squaredNorm();
        direction = residual + next / square * direction;
        square = next;
    }
    return step.isZero(0) ? Vector(-g) : step;
}

inline constexpr std::size_t largest_dense = 4096;  // features, where there is a choice

template <class F, class Vector, class Matrix>
Vector newton_step(F const& f, Vector const& x, Vector const& g, Matrix& h) {
    if constexpr (HessianObjective<F>)
        if (!HessianProductObjective<F> || f.dimension() <= largest_dense) {
            f.hessian(view(x), h);
            return dense_step(h, g);
        }
    auto const apply = [&](Vector const& v, Vector& out) {
        if constexpr (HessianProductObjective<F>) f.hessian_times(view(x), view(v), view(out));
    };
    return product_step(apply, g);
}

}  // namespace detail

/// The minimum of a convex f by damped Newton from x = 0: with its Hessian where it has one and d <= 4096, else by
/// conjugate gradients on hessian_times. Ends where the gradient norm is at most `tolerance`, or where double precision
/// cannot lower it any more and it is at most 1e-10 max(1, |gradient at 0|); a tolerance of 0 requests that floor.
/// About ten Hessians (dense), or some thousand passes over the data. Throws error, with the norm reached, where
/// neither is reached in 200 steps; argument_error for a negative tolerance.
template <NewtonObjective F>
optimum find_optimum(F const& f, double tolerance = 1e-12) {
    if (!(tolerance >= 0)) throw argument_error(detail::concat({"a tolerance of ", tolerance, " is negative"}));
    std::size_t const d = f.dimension();
    using vector = dependent<Eigen::VectorXd, F>;
    vector x = vector::Zero(static_cast<Eigen::Index>(d)), g = x, step, next = x, next_g = x;
    dependent<Eigen::MatrixXd, F> h;
    double value = evaluate(f, x, g), norm = g.norm();
    double const first_value = value, good_enough = 1e-10 * std::max(1.0, norm);

    optimum best{{x.begin(), x.end()}, value, norm, 0};
    int taken = 0, idle = 0;
    while (best.gradient_norm > tolerance && taken < 200 && idle < (best.gradient_norm <= good_enough ? 3 : 50)) {
        step = detail::newton_step(f, x, g, h);
        double const slope = g.dot(step), scale = std::max(std::abs(value), std::abs(first_value));
        double length = 1, next_value = 0, next_norm = 0;
        for (;; length /= 2) {
            next = x + length * step;
            next_value = evaluate(f, next, next_g);
            next_norm = next_g.norm();
            // Near the minimum values differ by rounding only; then the gradient decides.
            bool const lower = next_value <= value + 1e-4 * length * slope;
            bool const flatter = next_value <= value + 1e-12 * scale && next_norm <= norm / 2;
            if (lower || flatter || length < 1e-12) break;
        }
        if (!(length >= 1e-12)) break;
        x.swap(next);
        g.swap(next_g);
        value = next_value;
        norm = next_norm;
        ++taken;
        idle = norm <= best.gradient_norm / 2 ? 0 : idle + 1;
        if (norm < best.gradient_norm) best = {{x.begin(), x.end()}, value, norm, 0};
    }
    best.iterations = taken;
    if (!(best.gradient_norm <= std::max(tolerance, good_enough)))
        throw error(detail::concat(
            {"no optimum: the gradient norm is still ", best.gradient_norm, " after ", taken, " Newton steps"}));
    return best;
}

}  // namespace laconic
