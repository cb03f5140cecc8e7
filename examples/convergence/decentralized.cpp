// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <utility>

#include "laconic/collective/mixing.hpp"
#include "laconic/compress/top_k.hpp"
#include "laconic/decentralized/gadmm.hpp"
#include "laconic/decentralized/gossip.hpp"
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

// The local steps leave r of x_i - a_i. The mean over the workers moves so, too; what they are apart is averaged in
// pairs, which keeps q of its square.
line pair_gossip_exact(std::size_t runs) {
    std::size_t const rounds = 30;
    auto const f = spheres(16, 4, 3, 4);
    pair_gossip const how{.step = .1, .local = 2};
    double const n = f.size(), r = std::pow(1 - how.step, how.local), q = (n - 2) / (2 * (n - 1));
    auto const run = [&](std::uint64_t seed) {
        vec mean;
        for (auto const& at : run_loops(how, f, rounds, seed)) {
            mean.push_back(0);
            for (auto const& x : at.x) mean.back() += f.distance(x) / n;
        }
        return mean;
    };
    double centre = f.distance(f.start), apart = 0, with_a = 0;  // mean <x_i - mean x, a_i>
    vec bound{centre};
    for (std::size_t k = 0; k < rounds; ++k) {
        centre *= r * r;
        apart = q * (r * r * apart + 2 * r * (1 - r) * with_a + (1 - r) * (1 - r) * f.heterogeneity);
        with_a = q * (r * with_a + (1 - r) * f.heterogeneity);
        bound.push_back(centre + apart);
    }
    return {"pair_gossip(step=0.1, local=2)",
            "the variance of random pairs",
            "spheres, n=16, d=4",
            averaged(runs, run),
            bound,
            true,
            runs};
}

// W is doubly stochastic: the mean of the models moves as gradient descent does, whatever is sent.
line choco_exact() {
    auto const f = spheres(6, 4, 1, 3);
    choco<top_k<>> const how{.compressor = {1}, .step = .1};
    measured run;
    for (auto const& at : run_loops(how, f, 60, 1)) {
        vec centre(4);
        for (auto const& x : at.x)
            for (std::size_t c = 0; c < 4; ++c) centre[c] += x[c] / 6;
        run.mean.push_back(f.distance(centre));
    }
    run.error.resize(run.mean.size());
    return {"choco(top_k(1), step=0.1), mean x",
            "gradient descent of the mean",
            "spheres, n=6, d=4",
            run,
            geometric(f.distance(f.start), 1 - (1 - how.step) * (1 - how.step), 0, 60),
            true};
}

// One step of gradients sets the models apart; then the step is 0, and what is left is gossip alone.
line choco_bound() {
    std::size_t const n = 6, d = 10, rounds = 400;
    auto const g = graph::ring(static_cast<int>(n));
    choco<top_k<>> const how{.compressor = {2}, .step = 1, .decrease = 1e-30, .proved = true, .over = g};
    std::vector<worker> all;
    for (std::size_t i = 0; i < n; ++i) {
        vec centre(d);
        for (std::size_t c = 0; c < d; ++c) centre[c] = std::cos(static_cast<double>(7 * i + 3 * c));
        all.push_back(worker({{vec(d, 1), centre}}));
    }
    toy const f(std::move(all), vec(d, 0.0));
    auto const known = [](auto const& loop, vec& q) { q.assign(loop.known().begin(), loop.known().end()); };
    auto const states = run_loops(how, f, rounds, 1, known);
    measured run{{}, vec(rounds)};
    for (std::size_t k = 1; k <= rounds; ++k) {  // at the start all are the same
        vec centre(d);
        for (auto const& x : states[k].x)
            for (std::size_t c = 0; c < d; ++c) centre[c] += x[c] / static_cast<double>(n);
        run.mean.push_back(0);
        for (std::size_t i = 0; i < n; ++i)
            run.mean.back() +=
                squared_distance(states[k].x[i], centre) + squared_distance(states[k].x[i], states[k].more[i]);
    }
    mixing const facts(g);
    double const delta = how.compressor.delta(d);
    return {"choco(top_k(2), proved=yes), apart", "the map M of e and q", "a ring of 6, d=10", run,
            geometric(run.mean[0], facts.rate(facts.best_gamma(delta), delta), 0, rounds - 1)};
}

}  // namespace

std::vector<line> decentralized_lines(options const& o) {
    auto all = gadmm_lines();
    all.push_back(q_gadmm_exact(o.runs));
    all.push_back(pair_gossip_exact(2 * o.runs));
    all.push_back(choco_exact());
    all.push_back(choco_bound());
    return all;
}

}  // namespace convergence
