// SPDX-License-Identifier: Apache-2.0
// Quasi-Newton steps: ds_lsr1, whose model is f where it has as many pairs as numbers.
#include <algorithm>
#include <cmath>

#include "laconic/second_order/ds_lsr1.hpp"
#include "line.hpp"
#include "loops.hpp"

namespace convergence {

using namespace laconic;

namespace {

// As many pairs as numbers: the model is f. On a sphere each step goes straight to x*, as far as the radius, which
// doubles, and the last one is Newton's.
line trust_region_exact() {
    auto const f = spheres(4, 6, 1, 10);
    std::size_t const rounds = 5;
    measured run{{}, vec(rounds + 1)};
    for (auto const& at : run_loops(ds_lsr1<>{.memory = 6, .radius = 1}, f, rounds, 1))
        run.mean.push_back(f.distance(at.x[0]));
    vec exact;
    double left = std::sqrt(f.distance(f.start)), radius = 1;
    for (std::size_t k = 0; k <= rounds; ++k, radius *= 2) {
        exact.push_back(left * left);
        left = std::max(0.0, left - radius);
    }
    return {"ds_lsr1(memory=6)", "Newton within a radius", "spheres, n=4, d=6", run, exact, true};
}

// The search ends where the model's gradient, which is the next gradient of f, is min(forcing, sqrt |g|) |g|.
line inexact_newton() {
    auto const f = valleys(4, 12, .01, .3);
    std::size_t const rounds = 7;
    measured run{{}, vec(rounds + 1)};
    for (auto const& at : run_loops(ds_lsr1<>{.memory = 12, .radius = 1e3}, f, rounds, 1)) {
        run.mean.push_back(0);
        for (std::size_t c = 0; c < 12; ++c)
            run.mean.back() += std::pow(f.curvature[c] * (at.x[0][c] - f.optimum[c]), 2);
    }
    vec bound{run.mean[0]};
    for (std::size_t k = 0; k < rounds; ++k) bound.push_back(bound.back() * std::min(.25, std::sqrt(bound.back())));
    return {"ds_lsr1(memory=12)", "Dembo, Eisenstat, Steihaug 1982", "valleys, n=4, d=12, kappa=100", run, bound};
}

}  // namespace

std::vector<line> ds_lsr1_lines(options const&) { return {trust_region_exact(), inexact_newton()}; }

}  // namespace convergence
