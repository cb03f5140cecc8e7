// SPDX-License-Identifier: Apache-2.0
// The 99 % family, where only a random share of the blocks of each gradient travels: ibcd, ibgd and isega, beside their
// theorems.
#include <algorithm>
#include <cmath>

#include "laconic/compress/rand_k.hpp"
#include "laconic/method/ibcd.hpp"
#include "line.hpp"
#include "moments.hpp"
#include "trial.hpp"

namespace convergence {

using namespace laconic;

namespace {

constexpr double tau = 1. / 4;  // of the blocks, which are one coordinate of 64 each, or 2 of 8
constexpr char const* blocks_on_spheres = "spheres, n=4, d=64";
constexpr char const* blocks_on_valleys = "valleys, n=4, d=8, kappa=10";
constexpr char const* agreeing = "agreeing spheres, n=4, d=64";

auto distance_on(toy const& f) {
    return [&f](course const& at, std::size_t k) { return f.distance(at[k].x); };
}

// The theorem of the paper is 1, of ibgd 4. The step is the longest: 1 / (tau L + (1 - tau) max L_i / n), where the
// theorem is an equality.
template <class M>
line masked(M const& method, char const* name, char const* theorem, std::size_t rounds, std::size_t runs) {
    auto const f = spheres(4, 64, 0, 10);
    double const s = 1 / (tau + (1 - tau) / 4);
    return {name,
            theorem,
            agreeing,
            measure(as_common(composed(method, f)), f, rounds, runs, distance_on(f)),
            geometric(f.distance(f.start), s * tau, 0, rounds),
            true,
            runs};
}

line isega_exact(std::size_t runs) {
    auto const f = spheres(4, 64, 1, 10);
    double const omega = rand_block<>{16, 1}.omega(64), alpha = 1 / (1 + omega);
    double const its = std::min(1 / (4 * (1 + 1 / (4 * alpha))), 1 / (1 / alpha + 4 / (4 * alpha)));
    double const s = std::max(its, std::min(alpha / 2, 1 / (1 + 6 * omega / 4)));  // diana's, general form
    return {"isega(tau=16, block=1)",
            "the variance of masks",
            blocks_on_spheres,
            measure(as_common(composed(isega{16, 1}, f)), f, 40, runs, distance_on(f)),
            diana_moments(f, omega, alpha, s, 40),
            true,
            runs};
}

line isega_bound(std::size_t runs) {
    auto const f = valleys(4, 8, .1, .3);
    double const l = f.constants.largest_smoothness, mu = f.constants.strong_convexity;
    double const s = std::min(1 / (4 * l * (1 + 1 / (4 * tau))), 1 / (mu / tau + 4 * l / (4 * tau)));
    double const first = f.distance(f.start) + s / (2 * l * tau) * f.heterogeneity;  // h_i = 0
    return {"isega(tau=1, block=2, step of theorem 3)",
            "Mishchenko et al. 2019, thm 3",
            blocks_on_valleys,
            measure(as_common(composed(isega{1, 2, {.step = s}}, f)), f, 150, runs, distance_on(f)),
            geometric(first, s * mu, 0, 150),
            false,
            runs};
}

}  // namespace

std::vector<line> block_lines(options const& o) {
    return {masked(ibcd{16, 1}, "ibcd(tau=16, block=1)", "Mishchenko et al. 2019, thm 1, longest step", 10, 8 * o.runs),
            // One coin for all coordinates: the mean of few runs is that of still fewer.
            masked(ibgd{}, "ibgd", "Mishchenko et al. 2019, thm 4, longest step", 6, 16 * o.runs), isega_exact(o.runs),
            isega_bound(o.runs)};
}

}  // namespace convergence
