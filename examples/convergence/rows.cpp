// SPDX-License-Identifier: Apache-2.0
// DIANA with gradients of one row, whose variance is reduced, beside its theorem.
#include <algorithm>

#include "laconic/compress/rand_k.hpp"
#include "laconic/method/diana.hpp"
#include "line.hpp"
#include "moments.hpp"
#include "trial.hpp"

namespace convergence {

using namespace laconic;

namespace {

double step_of(problem const& p, double omega) {
    return 1 / (p.largest_sample_smoothness * (1 + 36 * (omega + 1) / p.workers));
}

line vr_diana_exact(std::size_t runs) {
    auto const f = layered(8, 8, 4, 4, 10);
    rand_k<> const c{4};
    double const omega = c.omega(8);
    auto const v = [&](course const& at, std::size_t k) { return f.distance(at[k].x); };
    return {"vr_diana(rand_k(4))",
            "the variances of rand-k and of rows",
            "layered spheres, n=8, d=8, m=4",
            measure(composed(vr_diana{c}, f), f, 70, runs, v),
            vr_diana_moments(f, omega, 1 / (1 + omega), step_of(f.constants, omega), 70),
            true,
            runs};
}

line vr_diana_bound(std::size_t runs) {
    auto const f = valleys(8, 8, .2, .3, 3);
    auto const& p = f.constants;
    rand_k<> const c{4};
    double const omega = c.omega(8), alpha = 1 / (1 + omega), s = step_of(p, omega);
    std::vector<std::vector<vec>> there(8);  // grad f_ij(x*)
    auto const gradients = [&](std::size_t i, auto const& x, auto&& use) {
        vec g(8);
        for (std::uint32_t j = 0; j < 3; ++j) {
            f.workers[i].batch_gradient(std::span(&j, 1), x, g);
            use(j, g);
        }
    };
    for (std::size_t i = 0; i < 8; ++i)
        gradients(i, f.optimum, [&](std::size_t, vec const& g) { there[i].push_back(g); });
    auto const v = [&](course const& at, std::size_t k) {
        double stale = 0;
        for (std::size_t i = 0; i < 8; ++i)  // no reference point before the first round: the start
            gradients(i, k == 0 ? f.start : at[k].more[i],
                      [&](std::size_t j, vec const& g) { stale += squared_distance(g, there[i][j]); });
        return f.distance(at[k].x) +
               s * s * (4 * (omega + 1) / (alpha * 8) * f.memory_error(at[k].known) + 16 * (omega + 1) / 64 * stale);
    };
    auto const run = measure(composed(vr_diana{c}, f), f, 150, runs, v, [](auto const& loop, vec& reference) {
        auto const w = loop.method().estimator.reference();
        reference.assign(w.begin(), w.end());
    });
    double const rate = std::min({s * p.strong_convexity, alpha / 2, 3 / (8. * 3)});
    return {"vr_diana(rand_k(4))",
            "Horvath et al. 2019",
            "valleys, n=8, d=8, m=3, kappa=5",
            run,
            geometric(run.mean[0], rate, 0, 150),
            false,
            runs};
}

}  // namespace

std::vector<line> vr_diana_lines(options const& o) { return {vr_diana_exact(o.runs), vr_diana_bound(o.runs)}; }

}  // namespace convergence
