// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

#include "laconic/core/error.hpp"
#include "laconic/core/types.hpp"
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

// One of the two, by the Hessian at x, in the coordinates of the support where one is given, as g is; h is workspace.
template <class F, class Vector, class Matrix>
Vector newton_step(F const& f, Vector const& x, Vector const& g, Matrix& h,
                   std::vector<Eigen::Index> const* support = nullptr) {
    if constexpr (HessianObjective<F>)
        if (!HessianProductObjective<F> || f.dimension() <= largest_dense) {
            f.hessian(view(x), h);
            if (support) h = Matrix(h(*support, *support));
            return dense_step(h, g);
        }
    Vector whole = Vector::Zero(x.size()), image = whole;
    auto const apply = [&](Vector const& v, Vector& out) {
        if constexpr (HessianProductObjective<F>) {
            if (!support) return f.hessian_times(view(x), view(v), view(out));
            whole(*support) = v;
            f.hessian_times(view(x), view(whole), view(image));
            out = image(*support);
        }
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
    if (!(tolerance >= 0)) throw argument_error({"a tolerance of ", tolerance, " is negative"});
    std::size_t const d = f.dimension();
    using vector = detail::dependent<Eigen::VectorXd, F>;
    vector x = vector::Zero(static_cast<Eigen::Index>(d)), g = x, step, next = x, next_g = x;
    detail::dependent<Eigen::MatrixXd, F> h;
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
        throw error({"no optimum: the gradient norm is still ", best.gradient_norm, " after ", taken, " Newton steps"});
    return best;
}

namespace detail {

template <class F>
class composite_search {
    using matrix = detail::dependent<Eigen::MatrixXd, F>;
    using vector = detail::dependent<Eigen::VectorXd, F>;

  public:
    // A point, F = f + weight |x|_1 and the gradient of f there.
    struct point {
        vector x, g;
        double value = 0;
    };

    composite_search(F const& f, double weight) : f_(f), weight_(weight) {
        at.x = at.g = vector::Zero(static_cast<Eigen::Index>(f.dimension()));
        look(at);
        noise_ = 1e-13 * at.g.norm();
    }

    point at;
    int newton_steps = 0;

    // The shortest subgradient of F, 0 at the minimum and nowhere else.
    vector subgradient(point const& p) const {
        vector r = p.g;
        for (Eigen::Index i = 0; i < r.size(); ++i)
            r[i] = p.x[i] > 0 ? r[i] + weight_ : p.x[i] < 0 ? r[i] - weight_ : shrink(r[i], weight_);
        return r;
    }

    // FISTA (Beck, Teboulle 2009) with a restart where F would increase (O'Donoghue, Candes 2015), until the signs have
    // stayed for a fifth of the steps. F is never higher at the end than at the start.
    void accelerate(int steps) {
        point ahead = at, next = at, last = at;
        double momentum = 1;
        for (int i = 0, settled = 0; i < steps && settled < steps / 5; ++i) {
            vector d;
            for (int doubled = 0; doubled < 100; ++doubled, smoothness_ *= 2) {
                for (Eigen::Index c = 0; c < next.x.size(); ++c)
                    next.x[c] = shrink(ahead.x[c] - ahead.g[c] / smoothness_, weight_ / smoothness_);
                look(next);
                d = next.x - ahead.x;
                // implies F(next) <= F(ahead), by convexity
                if ((next.g - ahead.g).dot(d) <= smoothness_ * d.squaredNorm() + noise_ * d.norm()) break;
            }
            settled = (next.x.array().sign() == last.x.array().sign()).all() ? settled + 1 : 0;
            if (next.value <= at.value) at = next;
            double const before = d.dot(next.x - last.x) < 0 ? 1 : momentum;
            momentum = (1 + std::sqrt(1 + 4 * before * before)) / 2;
            ahead.x = next.x + (before - 1) / momentum * (next.x - last.x);
            look(ahead);
            std::swap(last, next);
        }
    }

    // Newton's method in the coordinates that are not 0, where F is smooth as long as no sign changes. Coordinates that
    // would change their sign become 0, for good: all of them together where F falls, else the first to cross. F falls
    // with each step.
    void polish(int steps) {
        point next = at;
        std::vector<Eigen::Index> support;
        for (int i = 0, idle = 0; i < steps && idle < 3; ++i) {
            support.clear();
            for (Eigen::Index c = 0; c < at.x.size(); ++c)
                if (at.x[c] != 0) support.push_back(c);
            vector const r = subgradient(at)(support);
            double const norm = r.norm(), scale = std::abs(at.value);
            if (norm == 0) return;
            vector const step = newton_step(f_, at.x, r, hessian_, &support);

            double crossing = 1;
            Eigen::Index first = -1;
            for (Eigen::Index s = 0; s < step.size(); ++s)
                if (double const when = -at.x[support[std::size_t(s)]] / step[s]; when >= 0 && when < crossing)
                    crossing = when, first = s;

            bool moved = false, fewer = false;
            double length = 1;
            for (int tried = 0; tried < 50 && !moved; ++tried, length /= 2) {
                if (tried == 6) length = std::min(length, crossing);
                next.x = at.x;
                fewer = false;
                double slope = 0;
                for (Eigen::Index s = 0; s < step.size(); ++s) {
                    double& x = next.x[support[std::size_t(s)]];
                    double const from = x, to = x + length * step[s];
                    bool const gone = from * to <= 0 || (s == first && length == crossing);
                    x = gone ? 0 : to;
                    fewer = fewer || gone;
                    slope += r[s] * (x - from);
                }
                look(next);
                // Near the minimum values differ by rounding only; then the subgradient decides.
                bool const flatter = subgradient(next)(support).norm() <= norm / 2;
                moved = (slope < 0 && next.value <= at.value + 1e-4 * slope) ||
                        (flatter && next.value <= at.value + 1e-12 * scale);
                if (moved) idle = flatter || fewer || norm > 1e3 * noise_ ? 0 : idle + 1;
            }
            if (!moved) return;
            std::swap(at, next);
            ++newton_steps;
        }
    }

  private:
    static double shrink(double v, double by) { return v > by ? v - by : v < -by ? v + by : 0; }

    void look(point& p) const { p.value = evaluate(f_, p.x, p.g) + weight_ * p.x.template lpNorm<1>(); }

    F const& f_;
    double weight_;
    double smoothness_ = 1e-6, noise_ = 0;  // of f, by doubling; of the gradient, by rounding
    matrix hessian_;
};

}  // namespace detail

/// The minimum of F(x) = f(x) + weight |x|_1 for a convex f: the lasso where f is ridge with lambda = 0, the elastic
/// net where lambda > 0. It alternates FISTA until the signs settle and Newton's method in the coordinates that are not
/// 0, until the shortest subgradient of F is at most tolerance times the gradient of f at 0, in norm: so the conditions
/// of Karush, Kuhn and Tucker hold. `value` of the result is F, gradient_norm is that of the subgradient; zeros are
/// exact. Usually some hundred passes over the data and ten Hessians, some hundred where the minimum is not unique.
/// Throws argument_error unless 0 <= weight and 0 < tolerance, both finite; error, with the norm reached, where f is
/// not finite at 0 or 30 rounds are not enough.
template <NewtonObjective F>
optimum find_composite_optimum(F const& f, double weight, double tolerance = 1e-12) {
    if (!(weight >= 0 && std::isfinite(weight)))
        throw argument_error({"a weight of ", weight, " is not a finite number of at least 0"});
    if (!(tolerance > 0 && std::isfinite(tolerance)))
        throw argument_error({"a tolerance of ", tolerance, " is not a finite number above 0"});
    detail::composite_search<F> search(f, weight);
    double const goal = tolerance * search.at.g.norm();
    double norm = search.subgradient(search.at).norm();
    for (int round = 0; !(norm <= goal) && round < 30 && std::isfinite(norm); ++round) {
        search.accelerate(100 << std::min(round, 7));
        search.polish(8 << std::min(round, 7));
        norm = search.subgradient(search.at).norm();
    }
    if (!(norm <= goal))
        throw error({"no optimum: the shortest subgradient still has the norm ", norm, " after ", search.newton_steps,
                     " Newton steps, not ", goal});
    return {{search.at.x.begin(), search.at.x.end()}, search.at.value, norm, search.newton_steps};
}

}  // namespace laconic
