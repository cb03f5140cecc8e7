// SPDX-License-Identifier: Apache-2.0
// Contractive compression of differences: ef21, beside its theorems.
#include <algorithm>
#include <cmath>

#include "laconic/compress/parts.hpp"
#include "laconic/compress/rand_k.hpp"
#include "laconic/compress/top_k.hpp"
#include "laconic/method/ef21.hpp"
#include "laconic/method/proved_step.hpp"
#include "line.hpp"
#include "moments.hpp"
#include "trial.hpp"

namespace convergence {

using namespace laconic;

namespace {

constexpr char const* ef21_on_valleys = "valleys, n=4, d=10, kappa=10";

proved_step tight_step(problem const& p, double delta) {
    return proved_step::tight(p.largest_smoothness, p.least_strong_convexity, delta);
}

double ef21_loose_step(problem const& p, double delta) {
    double const theta = 1 - std::sqrt(1 - delta), beta = (1 - delta) / theta;
    return std::min(1 / (p.smoothness + p.mean_square_smoothness * std::sqrt(2 * beta / theta)),
                    theta / (2 * p.strong_convexity));
}

// sum_i |h_i - grad f_i(x)|^2, h_i as the round leaves it that takes gradients at x.
double off(toy const& f, course const& at, std::size_t k) {
    double sum = 0;
    vec g(f.start.size());
    for (std::size_t i = 0; i < f.workers.size(); ++i) {
        f.workers[i].gradient(at[k].x, g);
        sum += squared_distance(at[k + 1].known[i], g);
    }
    return sum;
}

line ef21_exact(std::size_t runs) {
    auto const f = spheres(4, 20, 1, 10);
    scaled_down<rand_k<>> const c{{10}};
    double const delta = c.delta(20);
    auto const v = [&](course const& at, std::size_t k) { return f.distance(at[k].x); };
    return {"ef21(scaled_down(rand_k(10)))",
            "coordinates kept with probability 1/2",
            "spheres, n=4, d=20",
            measure(as_common(composed(ef21{c}, f)), f, 25, runs, v),
            ef21_moments(f, delta, tight_step(f.constants, delta).size, 25),
            true,
            runs};
}

line ef21_loose() {
    auto f = valleys(4, 10, .1, .3);
    auto& p = f.constants;
    p.least_strong_convexity = 0;  // not known
    top_k<> const c{3};
    double const delta = c.delta(10), s = ef21_loose_step(p, delta), theta = 1 - std::sqrt(1 - delta);
    auto const v = [&](course const& at, std::size_t k) { return f.gap(at[k].x) + s / theta * off(f, at, k) / 4; };
    auto const run = measure(as_common(composed(ef21{c}, f)), f, 1000, 1, v);
    return {"ef21(top_k(3)), min mu_i unknown", "Richtarik et al. 2021, thm 2", ef21_on_valleys, run,
            geometric(run.mean[0], s * p.strong_convexity, 0, 1000)};
}

line ef21_tight() {
    auto const f = valleys(4, 10, .1, .3);
    top_k<> const c{3};
    double const delta = c.delta(10);
    auto const v = [&](course const& at, std::size_t k) {
        vec sum(10), g(10);
        for (auto const& w : f.workers) {
            w.gradient(at[k].x, g);
            for (std::size_t j = 0; j < 10; ++j) sum[j] += g[j];
        }
        return std::sqrt(1 - delta) / 4 * squared(sum) + off(f, at, k);
    };
    auto const run = measure(as_common(composed(ef21{c}, f)), f, 1000, 1, v);
    return {"ef21(top_k(3))", "the tight theorem", ef21_on_valleys, run,
            geometric(run.mean[0], 1 - tight_step(f.constants, delta).factor, 0, 1000)};
}

}  // namespace

std::vector<line> ef21_lines(options const& o) { return {ef21_exact(o.runs), ef21_loose(), ef21_tight()}; }

}  // namespace convergence
