// SPDX-License-Identifier: Apache-2.0
// Contractive compression with error feedback: ef_sgd, beside its theorems.
#include <algorithm>
#include <cmath>

#include "laconic/compress/parts.hpp"
#include "laconic/compress/rand_k.hpp"
#include "laconic/compress/top_k.hpp"
#include "laconic/method/ef_sgd.hpp"
#include "laconic/method/proved_step.hpp"
#include "line.hpp"
#include "moments.hpp"
#include "trial.hpp"

namespace convergence {

using namespace laconic;

namespace {

double ef_sgd_step(problem const& p, double delta) {
    return std::min(1 / (4 * p.smoothness),
                    delta / (14 * std::sqrt((1 - delta) * p.smoothness * p.largest_smoothness)));
}

line ef_sgd_exact(std::size_t runs) {
    auto const f = spheres(4, 20, 20, 10);
    scaled_down<rand_k<>> const c{{10}};
    double const delta = c.delta(20);
    auto const v = [&](course const& at, std::size_t k) { return f.distance(at[k].x); };
    return {"ef_sgd(scaled_down(rand_k(10)))",
            "coordinates kept with probability 1/2",
            "spheres, n=4, d=20",
            measure(as_common(composed(ef_sgd{c}, f)), f, 100, runs, v),
            ef_moments(f, delta, ef_sgd_step(f.constants, delta), 100),
            true,
            runs};
}

line ef_sgd_bound() {
    auto const f = valleys(4, 10, .1, .3);
    auto const& p = f.constants;
    top_k<> const c{3};
    double const delta = c.delta(10), s = ef_sgd_step(p, delta), l = p.smoothness;
    auto const v = [&](course const& at, std::size_t k) {
        vec virtual_x = at[k].x;
        double residual = 0;
        for (auto const& e : at[k].residual) {
            residual += squared(e) / 4;
            for (std::size_t j = 0; j < e.size(); ++j) virtual_x[j] -= e[j] / 4;
        }
        return f.distance(virtual_x) + 12 * s * l / delta * residual;
    };
    auto const run = measure(as_common(composed(ef_sgd{c}, f)), f, 3000, 1, v);
    double const added = 48 * s * s * s * l * (1 - delta) / (delta * delta) * f.heterogeneity;
    return {"ef_sgd(top_k(3))", "Stich, Karimireddy 2020", "valleys, n=4, d=10, kappa=10", run,
            geometric(run.mean[0], std::min(s * p.strong_convexity / 2, delta / 4), added, 3000)};
}

line ef_sgd_tight() {
    auto f = valleys(4, 10, .1, 0);
    f.constants.shared_optimum = true;
    top_k<> const c{3};
    double const delta = c.delta(10);
    auto const v = [&](course const& at, std::size_t k) {
        vec sum(10);
        double apart = 0;
        for (std::size_t i = 0; i < 4; ++i) {
            vec x = at[k].x;
            auto const& e = at[k].residual[i];
            for (std::size_t j = 0; j < e.size(); ++j) {  // none before the first round
                sum[j] += e[j];
                x[j] -= e[j];
            }
            apart += f.distance(x);
        }
        return apart + squared(sum) / (4 * std::sqrt(1 - delta));
    };
    auto const run = measure(as_common(composed(ef_sgd{c}, f)), f, 1000, 1, v);
    auto const& p = f.constants;
    double const factor = proved_step::tight(p.largest_smoothness, p.least_strong_convexity, delta).factor;
    return {"ef_sgd(top_k(3))", "the tight theorem", "agreeing valleys, n=4, d=10, kappa=10", run,
            geometric(run.mean[0], 1 - factor, 0, 1000)};
}

}  // namespace

std::vector<line> ef_sgd_lines(options const& o) { return {ef_sgd_exact(o.runs), ef_sgd_bound(), ef_sgd_tight()}; }

}  // namespace convergence
