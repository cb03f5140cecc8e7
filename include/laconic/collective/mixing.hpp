// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <cmath>

#include "laconic/comm/graph.hpp"
#include "laconic/core/types.hpp"
#include "laconic/objective/spectrum.hpp"

namespace laconic {

/// What theorems on averaging with Metropolis weights W need of a graph.
struct mixing {
    double gap = 1;   ///< 1 - the second largest magnitude of an eigenvalue of W
    double beta = 0;  ///< the largest eigenvalue of I - W

    template <class G>  // a template, so that only its callers compile the solver
    explicit mixing(G const& g) {
        detail::dependent<Eigen::MatrixXd, G> w = detail::dependent<Eigen::MatrixXd, G>::Zero(g.size(), g.size());
        for (int r = 0; r < g.size(); ++r) {
            w(r, r) = g.own_weight(r);
            for (int const m : g.neighbours(r)) w(r, m) = g.weight(r, m);
        }
        auto const n = static_cast<double>(g.size());
        double const least = smallest_eigenvalue(w);  // of W less the projection on the mean: as W, with 0 for 1
        double const next = -smallest_eigenvalue(decltype(w)(-(w.array() - 1 / n).matrix()));
        gap = 1 - std::max(next, -least);
        beta = 1 - least;
    }

    /// How fast ranks agree that gossip with the consensus step gamma in [0, 1] by messages C of differences, E|C(x) -
    /// x|^2 <= (1 - delta) |x|^2: a round takes e, the distance of the x_n from their mean, and q, that of the x_n from
    /// what is known of them, to at most
    ///     e+ = (1 - gamma gap) e + gamma beta s q,   q+ = gamma beta e + (1 + gamma beta) s q,   s = sqrt(1 - delta),
    /// and so e^2 + q^2 in expectation to at most 1 - rate times itself, 1 - rate being the largest eigenvalue of M'M,
    /// M that map. Not above 0 where gamma is too large for that to be known.
    double rate(double gamma, double delta) const {
        double const s = std::sqrt(std::max(0., 1 - delta)), b = gamma * beta;
        double const a[] = {1 - gamma * gap, b * s, b, (1 + b) * s};
        double const first = a[0] * a[0] + a[2] * a[2], last = a[1] * a[1] + a[3] * a[3];
        return 1 - (first + last) / 2 - std::hypot((first - last) / 2, a[0] * a[1] + a[2] * a[3]);
    }
    /// The gamma with the largest rate, of the order of gap delta / beta^2.
    double best_gamma(double delta) const {
        double low = 0, high = 1;  // the norm of M is convex in gamma
        for (int halvings = 0; halvings < 100; ++halvings) {
            double const left = low + (high - low) / 3, right = high - (high - low) / 3;
            if (rate(left, delta) < rate(right, delta))
                low = left;
            else
                high = right;
        }
        return (low + high) / 2;
    }
};

}  // namespace laconic
