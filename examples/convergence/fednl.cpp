// SPDX-License-Identifier: Apache-2.0
// Newton steps by compressed Hessians: fednl, what it learns and where it moves.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>

#include "laconic/any/compressor.hpp"
#include "laconic/compress/rand_k.hpp"
#include "laconic/compress/top_k.hpp"
#include "laconic/second_order/fednl.hpp"
#include "line.hpp"
#include "loops.hpp"

namespace convergence {

using namespace laconic;

namespace {

using learner = fednl<any_compressor<>>;

// A rank knows a number of its Hessian exactly from the round on in which it draws it; until then, with probability
// (1 - k / D)^rounds, it knows nothing of it.
line fednl_learns(std::size_t runs) {
    std::size_t const d = 8, rounds = 15;
    auto const f = valleys(8, d, .1, .3);
    rand_k<> const c{9};
    auto const run = [&](std::uint64_t seed) {
        vec off{squared(f.curvature)};
        auto const all = run_loops(
            learner{.compressor = c, .start_in_full = false}, f, rounds, seed, [](auto const& loop, vec& learned) {
                learned.assign(loop.learned().data(), loop.learned().data() + loop.learned().size());
            });
        for (std::size_t k = 1; k <= rounds; ++k) {
            vec left = all[k].more[0];
            for (std::size_t j = 0; j < d; ++j) left[j * d + j] -= f.curvature[j];
            off.push_back(squared(left));
        }
        return off;
    };
    double own = 0, n = f.size();  // sum |H_i|^2 / n^2
    for (auto const& w : f.workers) own += squared(w.curvature()) / (n * n);
    vec exact;
    for (std::size_t k = 0; k <= rounds; ++k) {
        double const unknown = std::pow(1 - 9. / 36, static_cast<double>(k));
        exact.push_back(unknown * own + unknown * unknown * (squared(f.curvature) - own));
    }
    return {"fednl(rand_k(9)), its Hessian",
            "the variance of rand-k",
            "valleys, n=8, d=8, kappa=10",
            averaged(runs, run),
            exact,
            true,
            runs};
}

// top_k(1) learns the largest curvature of each worker first. With H_k what was learned, and l the mean |H_i -
// learned|, x - x* becomes (H_k + l)^-1 (H_k + l - H) (x - x*), in norm at most 2 l / (mu + 2 l) of it where all are
// diagonal.
std::vector<line> fednl_moves() {
    std::size_t const d = 8;
    auto const f = valleys(4, d, .1, .3);
    measured run{{}, vec(d + 1)};
    for (auto const& at : run_loops(learner{.compressor = top_k{1}, .start_in_full = false}, f, d, 1))
        run.mean.push_back(f.distance(at.x[0]));
    vec off, exact{f.distance(f.start)}, bound = exact;
    for (std::size_t c = 0; c < d; ++c) off.push_back(f.start[c] - f.optimum[c]);
    for (std::size_t k = 1; k <= d; ++k) {
        vec learned(d);
        double lift = 0;
        for (auto const& w : f.workers) {
            auto left = w.curvature(), sorted = left;
            std::ranges::sort(sorted, std::greater{});
            for (std::size_t c = 0; c < d; ++c)
                if (left[c] >= sorted[k - 1]) learned[c] += left[c] / f.size(), left[c] = 0;
            lift += std::sqrt(squared(left)) / f.size();
        }
        for (std::size_t c = 0; c < d; ++c) off[c] *= 1 - f.curvature[c] / (learned[c] + lift);
        exact.push_back(squared(off));
        bound.push_back(bound.back() * std::pow(2 * lift / (f.constants.strong_convexity + 2 * lift), 2));
    }
    char const* const where = "valleys, n=4, d=8, kappa=10";
    return {{"fednl(top_k(1))", "what is learned in each round", where, run, exact, true},
            {"fednl(top_k(1))", "Safaryan et al. 2022, constants derived", where, run, bound}};
}

}  // namespace

std::vector<line> fednl_lines(options const& o) {
    std::vector<line> all{fednl_learns(o.runs)};
    for (auto& l : fednl_moves()) all.push_back(l);
    return all;
}

}  // namespace convergence
