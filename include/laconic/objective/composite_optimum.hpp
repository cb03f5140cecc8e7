// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

#include "laconic/core/error.hpp"
#include "laconic/core/text.hpp"
#include "laconic/core/dependent.hpp"
#include "laconic/core/view.hpp"
#include "laconic/objective/hessian.hpp"
#include "laconic/objective/objective.hpp"
#include "laconic/objective/optimum.hpp"

namespace laconic {

namespace detail {

template <class F>
class composite_search {
    using matrix = dependent<Eigen::MatrixXd, F>;
    using vector = dependent<Eigen::VectorXd, F>;

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
    // stayed for a fifth of the steps. F is never higher at the end than at the start, as the first step is one without
    // momentum.
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
            vector const step = newton_step(support, r);

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

    // -H_SS^-1 r at the point reached, where S is the support.
    vector newton_step(std::vector<Eigen::Index> const& support, vector const& r) {
        if constexpr (HessianObjective<F>)
            if (!HessianProductObjective<F> || f_.dimension() <= largest_dense) {
                f_.hessian(view(at.x), whole_);
                part_ = whole_(support, support);
                return dense_step(part_, r);
            }
        vector v = vector::Zero(at.x.size()), image(at.x.size());
        auto const apply = [&](vector const& direction, vector& out) {
            v(support) = direction;
            if constexpr (HessianProductObjective<F>) f_.hessian_times(view(at.x), view(v), view(image));
            out = image(support);
        };
        return product_step(apply, r);
    }

    F const& f_;
    double weight_;
    double smoothness_ = 1e-6, noise_ = 0;  // of f, by doubling; of the gradient, by rounding
    matrix whole_, part_;
};

}  // namespace detail

/// The minimum of F(x) = f(x) + weight |x|_1 for a convex f: the lasso where f is ridge with lambda = 0, the elastic
/// net where lambda > 0. It alternates FISTA until the signs settle and Newton's method in the coordinates that are not
/// 0, until the shortest subgradient of F is at most tolerance times the gradient of f at 0, in norm: so the conditions
/// of Karush, Kuhn and Tucker hold. `value` of the result is F, gradient_norm is that of the subgradient; zeros are
/// exact. Usually some hundred passes over the data and ten Hessians where the minimum is unique; some hundred Hessians
/// where not. Throws argument_error unless 0 <= weight and 0 < tolerance, both finite; error, with the norm reached,
/// where f is not finite at 0 or 30 rounds are not enough.
template <NewtonObjective F>
optimum find_composite_optimum(F const& f, double weight, double tolerance = 1e-12) {
    if (!(weight >= 0 && std::isfinite(weight)))
        throw argument_error(detail::concat({"a weight of ", weight, " is not a finite number of at least 0"}));
    if (!(tolerance > 0 && std::isfinite(tolerance)))
        throw argument_error(detail::concat({"a tolerance of ", tolerance, " is not a finite number above 0"}));
    detail::composite_search<F> search(f, weight);
    double const goal = tolerance * search.at.g.norm();
    double norm = search.subgradient(search.at).norm();
    for (int round = 0; !(norm <= goal) && round < 30 && std::isfinite(norm); ++round) {
        search.accelerate(100 << std::min(round, 7));
        search.polish(8 << std::min(round, 7));
        norm = search.subgradient(search.at).norm();
    }
    if (!(norm <= goal))
        throw error(detail::concat(detail::text_pieces{"no optimum: the shortest subgradient still has the norm ", norm,
                                                       " after ", search.newton_steps, " Newton steps, not ", goal}));
    return {{search.at.x.begin(), search.at.x.end()}, search.at.value, norm, search.newton_steps};
}

}  // namespace laconic
