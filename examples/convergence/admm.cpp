// SPDX-License-Identifier: Apache-2.0
// ADMM on a chain: gadmm beside its theorem and its linear map, and q_gadmm, whose mean it is.
#include <cstddef>
#include <cstdint>

#include "laconic/decentralized/gadmm.hpp"
#include "line.hpp"
#include "loops.hpp"

namespace convergence {

using namespace laconic;

namespace {

// Of a chain in which workers 0, 2, .. are heads: V = |lambda - lambda*|^2 / rho + rho sum |x_t - x*|^2, lambda_e being
// the dual of the edge from e to e + 1 and x_t the model of its tail; and the least by which it falls in a round.
struct chain {
    toy f;
    double rho;

    static std::size_t tail(std::size_t edge) { return edge + 1 - edge % 2; }
    double lyapunov(std::vector<vec> const& x, std::vector<vec> const& lambda) const {
        double v = 0;
        vec best(f.start.size());  // lambda*_e = lambda*_(e-1) - grad f_e(x*)
        for (std::size_t e = 0; e + 1 < x.size(); ++e) {
            for (std::size_t c = 0; c < best.size(); ++c) best[c] -= f.gradients[e][c];
            v += squared_distance(lambda[e], best) / rho + rho * f.distance(x[tail(e)]);
        }
        return v;
    }
    double least_fall(std::vector<vec> const& before, std::vector<vec> const& x) const {
        double sum = 0;
        for (std::size_t e = 0; e + 1 < x.size(); ++e)
            sum += rho * (squared_distance(x[e], x[e + 1]) + squared_distance(x[tail(e)], before[tail(e)]));
        return sum;
    }
    /// A round in plain numbers: worker n minimises f_n + lambda_n x - lambda_(n-1) x + rho / 2 sum (x - x_m)^2.
    void round(std::vector<vec>& x, std::vector<vec>& lambda) const {
        auto const last = x.size() - 1;
        for (std::size_t const side : {0, 1})
            for (std::size_t n = side; n <= last; n += 2)
                for (std::size_t c = 0; c < x[n].size(); ++c) {
                    double pull = f.workers[n].pull()[c], bend = f.workers[n].curvature()[c];
                    if (n > 0) pull += lambda[n - 1][c] + rho * x[n - 1][c], bend += rho;
                    if (n < last) pull += rho * x[n + 1][c] - lambda[n][c], bend += rho;
                    x[n][c] = pull / bend;
                }
        for (std::size_t e = 0; e < last; ++e)
            for (std::size_t c = 0; c < x[e].size(); ++c) lambda[e][c] += rho * (x[e][c] - x[e + 1][c]);
    }
};

std::vector<line> gadmm_lines() {
    std::size_t const rounds = 60;
    chain const on{valleys(6, 4, .1, .5), .5};
    auto const all = run_loops(gadmm{on.rho}, on.f, rounds, 1, [](auto const& loop, vec& dual) {
        dual.assign(loop.dual().begin(), loop.dual().end());  // a_n = lambda_n - lambda_(n-1)
    });
    std::vector<vec> const none(5, vec(4));
    auto x = all[0].x, plain = none;
    measured run{{on.lyapunov(x, none)}, vec(rounds + 1)};
    vec exact = run.mean, bound = run.mean;
    for (std::size_t k = 1; k <= rounds; ++k) {
        bound.push_back(run.mean.back() - on.least_fall(all[k - 1].x, all[k].x));
        auto lambda = none;
        for (std::size_t e = 0; e < 5; ++e)
            for (std::size_t c = 0; c < 4; ++c) lambda[e][c] = all[k].more[e][c] + (e > 0 ? lambda[e - 1][c] : 0);
        run.mean.push_back(on.lyapunov(all[k].x, lambda));
        on.round(x, plain);
        exact.push_back(on.lyapunov(x, plain));
    }
    char const* const where = "valleys, n=6, d=4, kappa=10";
    return {{"gadmm(rho=0.5)", "its linear map", where, run, exact, true},
            {"gadmm(rho=0.5)", "Elgabli et al. 2020, constants derived", where, run, bound}};
}

// Two workers, f_n = |x - b_n|^2 / 2, the second one's start at b_2: as rounding is unbiased, the mean of its x is that
// of exact messages, which is multiplied by (1 + rho^2) / (1 + rho)^2 in a round.
line q_gadmm_exact(std::size_t runs) {
    vec const h(8, 1), b{1, 3, 4, 8, 9, 14, 17, 25};  // no numbers of a grid
    vec minus = b;
    for (double& v : minus) v = -v;
    toy const f({worker({{h, minus}}), worker({{h, b}})}, b);
    double const rho = 2;
    auto const run = [&](std::uint64_t seed) {
        vec mean;
        for (auto const& at : run_loops(q_gadmm{rho, 3}, f, 20, seed)) {
            mean.push_back(0);
            for (std::size_t c = 0; c < 8; ++c) mean.back() += at.x[1][c] / b[c] / 8;
        }
        return mean;
    };
    return {"q_gadmm(rho=2, bits=3), mean x",
            "E x is gadmm's",
            "two spheres, d=8",
            averaged(runs, run),
            geometric(1, 1 - (1 + rho * rho) / ((1 + rho) * (1 + rho)), 0, 20),
            true,
            runs};
}

}  // namespace

std::vector<line> admm_lines(options const& o) {
    auto all = gadmm_lines();
    all.push_back(q_gadmm_exact(o.runs));
    return all;
}

}  // namespace convergence
