// SPDX-License-Identifier: Apache-2.0
// The 99 % family with other estimates or steps: isaga, isgd and iasgd, beside their theorems.
#include <algorithm>
#include <cmath>
#include <span>

#include "laconic/method/ibcd.hpp"
#include "line.hpp"
#include "moments.hpp"
#include "trial.hpp"

namespace convergence {

using namespace laconic;

namespace {

constexpr double sent_share = 1. / 4;  // of the blocks that travel, which are one coordinate of 64 each, or 2 of 8

line isaga_exact(std::size_t runs) {
    auto const f = layered(4, 64, 3, 0, 10);
    auto const v = [&](course const& at, std::size_t k) { return f.distance(at[k].x); };
    double const s = 1 / (sent_share + 4. / 4);
    return {"isaga(tau=16, block=1)",
            "the variances of masks and of rows",
            "agreeing layered spheres, n=4, d=64, m=3",
            measure(composed(isaga{16, 1}, f), f, 60, runs, v),
            isaga_moments(f, sent_share, s, 60),
            true,
            runs};
}

line isaga_bound(std::size_t runs) {
    std::size_t const m = 2;
    auto const f = valleys(4, 8, .1, 0, m);
    auto const& p = f.constants;
    double const s = 1 / (p.largest_sample_smoothness * (sent_share + 4. / 4));
    // grad f_ij(x*) = 0, as all rows agree. The table is empty before the first round, which fills it at x^0.
    auto const v = [&](course const& at, std::size_t k) {
        double stale = 0;
        for (auto const& table : at[std::max<std::size_t>(k, 1)].more) stale += squared(table);
        return f.distance(at[k].x) + 3. / 16 * s * s * stale;
    };
    auto const run = measure(composed(isaga{1, 2}, f), f, 200, runs, v, [](auto const& loop, vec& table) {
        auto const its = loop.method().estimator.table();
        table.assign(its.begin(), its.end());
    });
    double const rate = sent_share * std::min(s * p.strong_convexity, 1 / (3. * m));
    return {"isaga(tau=1, block=2)",
            "Mishchenko et al. 2019, thm 5",
            "agreeing valleys, n=4, d=8, m=2, kappa=10",
            run,
            geometric(run.mean[0], rate, 0, 200),
            false,
            runs};
}

line isgd_exact(std::size_t runs) {
    auto const f = spheres(4, 64, 1, 3);
    auto const v = [&](course const& at, std::size_t k) { return f.distance(at[k].x); };
    double const a = 2 * (sent_share + 2 * (1 - sent_share) / 4), c = sent_share / 4;
    auto const step = [=](std::size_t k) { return 1 / (a + c * static_cast<double>(k)); };
    return {"isgd(tau=16, block=1)",
            "the variance of masks",
            "spheres, n=4, d=64",
            measure(composed(isgd{16, 1}, f), f, 120, runs, v),
            masked_moments(f, sent_share, step, 120),
            true,
            runs};
}

line isgd_bound(std::size_t runs) {
    auto const f = valleys(4, 8, .1, .3);
    auto const v = [&](course const& at, std::size_t k) { return f.distance(at[k].x); };
    double const l = f.constants.largest_smoothness, mu = f.constants.strong_convexity;
    double const a = 2 * (sent_share + 2 * (1 - sent_share) / 4) * l, c = mu * sent_share / 4,
                 noise = 2 * (1 - sent_share) * f.heterogeneity;
    vec bound{f.distance(f.start)};
    for (std::size_t k = 0; k < 300; ++k) {
        double const s = 1 / (a + c * static_cast<double>(k));
        bound.push_back((1 - s * sent_share * mu * (2 - s * a / 2)) * bound.back() + s * s * sent_share * noise / 4);
    }
    return {"isgd(tau=1, block=2)",
            "Mishchenko et al. 2019, |x - x*|^2 derived",
            "valleys, n=4, d=8, kappa=10",
            measure(composed(isgd{1, 2}, f), f, 300, runs, v),
            bound,
            false,
            runs};
}

line iasgd_bound(std::size_t runs) {
    auto const f = valleys(4, 8, .02, 0);
    double const l = f.constants.smoothness, mu = f.constants.strong_convexity;
    double rho = 1;  // mean |grad f_i|^2 <= rho |grad f|^2, coordinate by coordinate
    for (std::size_t c = 0; c < 8; ++c) {
        double squares = 0;
        for (auto const& w : f.workers) squares += w.curvature()[c] * w.curvature()[c] / 4;
        rho = std::max(rho, squares / (f.curvature[c] * f.curvature[c]));
    }
    auto const v = [&](course const& at, std::size_t k) {
        if (k == 0) return f.gap(f.start) + mu / 2 * f.distance(f.start);
        auto const both = std::span<double const>(at[k].more[0]);
        return f.gap(both.first(8)) + mu / 2 * f.distance(both.last(8));
    };
    auto const run = measure(composed(iasgd{1, 2, rho}, f), f, 150, runs, v, [](auto const& loop, vec& both) {
        auto const& step = loop.method().step;
        both.assign(step.y().begin(), step.y().end());
        both.insert(both.end(), step.v().begin(), step.v().end());
    });
    double const growth = 1 + (rho / sent_share - 1) / 4;
    return {"iasgd(tau=1, block=2)",
            "Vaswani et al. 2019",
            "agreeing valleys, n=4, d=8, kappa=50",
            run,
            geometric(run.mean[0], std::sqrt(mu / l) / growth, 0, 150),
            false,
            runs};
}

}  // namespace

std::vector<line> block_step_lines(options const& o) {
    return {isaga_exact(o.runs), isaga_bound(o.runs), isgd_exact(o.runs), isgd_bound(o.runs), iasgd_bound(o.runs)};
}

}  // namespace convergence
