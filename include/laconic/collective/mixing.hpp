// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Eigen/Core>
#include <algorithm>

#include "laconic/comm/graph.hpp"
#include "laconic/core/dependent.hpp"
#include "laconic/objective/spectrum.hpp"

namespace laconic {

/// What theorems on averaging with Metropolis weights W need of a graph.
struct mixing {
    double gap = 1;   ///< 1 - the second largest magnitude of an eigenvalue of W
    double beta = 0;  ///< the largest eigenvalue of I - W

    template <class G>  // a template, so that only its callers compile the solver
    explicit mixing(G const& g) {
        dependent<Eigen::MatrixXd, G> w = dependent<Eigen::MatrixXd, G>::Zero(g.size(), g.size());
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
};

}  // namespace laconic
