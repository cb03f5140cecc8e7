// SPDX-License-Identifier: Apache-2.0
// Averages among neighbours: pair_gossip and choco, beside their theorems.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "laconic/collective/mixing.hpp"
#include "laconic/compress/top_k.hpp"
#include "laconic/decentralized/gossip.hpp"
#include "line.hpp"
#include "loops.hpp"

namespace convergence {

using namespace laconic;

namespace {

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

std::vector<line> gossip_lines(options const& o) {
    return {pair_gossip_exact(2 * o.runs), choco_exact(), choco_bound()};
}

}  // namespace convergence
