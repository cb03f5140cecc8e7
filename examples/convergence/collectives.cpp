// SPDX-License-Identifier: Apache-2.0
// Sums that leave terms out, with error feedback of these: x less the mean residual follows the gradient.
#include <cmath>

#include "laconic/collective/select/arc_top_k.hpp"
#include "laconic/collective/select/ok_top_k.hpp"
#include "laconic/collective/select/shared_factors.hpp"
#include "laconic/collective/sparse/compressed_split_all_gather.hpp"
#include "laconic/compress/identity.hpp"
#include "laconic/compress/top_k.hpp"
#include "laconic/method/ef_sgd.hpp"
#include "laconic/method/proved_step.hpp"
#include "line.hpp"
#include "trial.hpp"

namespace convergence {

using namespace laconic;

namespace {

constexpr std::size_t rounds_in_all = 400;
overrides const given{.step = step_size{.2, true}};

toy problem_of() { return valleys(4, 16, .1, 0); }

vec mean_unsaid(standing const& at) {
    vec mean(at.x.size());
    for (auto const& e : at.residual)
        for (std::size_t c = 0; c < e.size(); ++c) mean[c] += e[c] / static_cast<double>(at.residual.size());
    return mean;
}

// Where nothing is lost, z = x - mean e moves along the gradient at x = z + mean e: z <- z - step grad f(x). From the
// e that the ranks hold, this gives x itself,
//     x^k - x* = (I - step H)^k (x^0 - x*) - step H sum_j (I - step H)^(k-1-j) mean e^j + mean e^k ,
// and with norms |x^k - x*| <= (1 - step mu)^k |x^0 - x*| + step L sum_j (1 - step mu)^(k-1-j) |mean e^j| + |mean e^k|.
template <class R>
std::vector<line> both(R const& method, std::string const& name, bool with_norms) {
    auto const f = problem_of();
    auto const& p = f.constants;
    double const s = .2 / p.smoothness, mu = p.strong_convexity, l = p.smoothness;
    course at(rounds_in_all + 2);
    run(std::vector{method}, f, 1, at);
    measured m{{}, vec(rounds_in_all + 1)};
    vec exact, norms, z = f.start;
    for (std::size_t c = 0; c < z.size(); ++c) z[c] -= f.optimum[c];
    double of_z = std::sqrt(squared(z));
    for (std::size_t k = 0; k <= rounds_in_all; ++k) {
        auto const e = mean_unsaid(at[k]);
        vec x = z;
        for (std::size_t c = 0; c < x.size(); ++c) x[c] += e[c];
        m.mean.push_back(f.distance(at[k].x));
        exact.push_back(squared(x));
        norms.push_back(std::pow(of_z + std::sqrt(squared(e)), 2));
        for (std::size_t c = 0; c < z.size(); ++c) z[c] -= s * f.curvature[c] * x[c];
        of_z = (1 - s * mu) * of_z + s * l * std::sqrt(squared(e));
    }
    char const* const where = "agreeing valleys, n=4, d=16, kappa=10";
    std::vector<line> lines = {{name, "x - mean e follows the gradient", where, m, exact, true}};
    if (with_norms) lines.push_back({name, "the same in norms", where, m, norms});
    return lines;
}

// One approximation for all ranks: (x, mean e) is error feedback of one rank on f, whose workers do not agree.
line as_of_one_rank(std::size_t runs) {
    auto const f = valleys(4, 16, .1, .3);
    auto const step = proved_step::tight(f.constants.smoothness, f.constants.strong_convexity, .5);
    course at(402);
    auto const v = [&](std::size_t k) {
        auto const e = mean_unsaid(at[k]);
        vec x = at[k].x;
        for (std::size_t c = 0; c < x.size(); ++c) x[c] -= e[c];
        return squared(e) / std::sqrt(.5) + f.distance(x);
    };
    auto const method = composed(ef_sgd{identity{}, overrides{.step = step_size{step.size}}}, f);
    auto const m = averaged(runs, [&](std::uint64_t seed) {
        run(std::vector{method.with_over(shared_factors{4, 2, 1, false, seed})}, f, seed, at);
        vec now;
        for (std::size_t k = 0; k <= 400; ++k) now.push_back(v(k));
        return now;
    });
    return {"ef_sgd by shared_factors(rows=4, rank=2)",
            "the tight theorem, as of one rank",
            "valleys, n=4, d=16, kappa=10",
            m,
            geometric(m.mean[0], 1 - step.factor, 0, 400),
            false,
            runs};
}

}  // namespace

std::vector<line> collective_lines(options const& o) {
    auto const f = problem_of();
    auto all = both(composed(gtop_k_sgd{2, false, given}, f), "gtop_k_sgd(k=2)", true);
    auto const add = [&](auto const& method, std::string const& name) {
        for (auto& l : both(method, name, false)) all.push_back(l);
    };
    auto const top = composed(ef_sgd{top_k{4}, given}, f);
    add(composed(spardl_sgd{4, false, given}, f), "spardl_sgd(k=4)");
    add(top.with_over(ok_top_k{4}), "ef_sgd by ok_top_k(4)");
    add(top.with_over(compressed_split_all_gather{quantize{7, 0}}), "ef_sgd by split_all_gather(quantize(7))");
    add(composed(ef_sgd{identity{}, given}, f).with_over(arc_top_k{4, 2}), "ef_sgd by arc_top_k(rows=4, k=2)");
    all.push_back(as_of_one_rank(o.runs));
    return all;
}

std::vector<line> lossy_lines(options const&) {
    return both(composed(gtop_k_sgd{2, true, given}, problem_of()), "gtop_k_sgd(k=2, as_published=yes)", false);
}

}  // namespace convergence
