// SPDX-License-Identifier: Apache-2.0
// Unbiased compression without shifts: dcgd, beside its theorem and the constants of compressors.
#include <cstddef>

#include "laconic/compress/natural.hpp"
#include "laconic/compress/rand_k.hpp"
#include "laconic/compress/top_k.hpp"
#include "laconic/method/dcgd.hpp"
#include "line.hpp"
#include "trial.hpp"

namespace convergence {

using namespace laconic;

namespace {

line dcgd_exact(std::size_t runs) {
    auto const f = spheres(8, 20, 1, 10);
    rand_k<> const c{5};
    double const omega = c.omega(20), s = 1 / (1 + 2 * omega / 8), noise = s * s * omega / 8;
    auto const bound = geometric(f.distance(f.start), 1 - (1 - s) * (1 - s) - noise, noise * f.heterogeneity, 25);
    auto const v = [&](course const& at, std::size_t k) { return f.distance(at[k].x); };
    return {"dcgd(rand_k(5))",
            "the variance of rand-k",
            "spheres, n=8, d=20",
            measure(as_common(composed(dcgd{c}, f)), f, 25, runs, v),
            bound,
            true,
            runs};
}

line dcgd_bound(std::size_t runs) {
    auto const f = valleys(8, 10, .1, .3);
    auto const& p = f.constants;
    auto const c = rand_k{2} | natural{};
    double const omega = c.omega(10), s = 1 / (p.smoothness + 2 * omega * p.largest_smoothness / 8);
    auto const bound =
        geometric(f.distance(f.start), s * p.strong_convexity, s * s * 2 * omega * f.heterogeneity / 8, 150);
    auto const v = [&](course const& at, std::size_t k) { return f.distance(at[k].x); };
    return {"dcgd(rand_k(2) | natural)",
            "Gorbunov et al. 2020",
            "valleys, n=8, d=10, kappa=10",
            measure(as_common(composed(dcgd{c}, f)), f, 150, runs, v),
            bound,
            false,
            runs};
}

// Where all magnitudes are 4/3 of a power of two, natural's omega is reached: here in round 1.
line dcgd_natural(std::size_t runs) {
    auto const f = spheres(1, 20, 0, 32. / 3);
    double const omega = natural{}.omega(20), s = 1 / (1 + 2 * omega);
    auto const v = [&](course const& at, std::size_t k) { return f.distance(at[k].x); };
    return {"dcgd(natural)",
            "natural's omega, reached",
            "a sphere, n=1, d=20",
            measure(as_common(composed(dcgd{natural{}}, f)), f, 10, runs, v),
            geometric(f.distance(f.start), 1 - (1 - s) * (1 - s) - s * s * omega, 0, 10),
            false,
            runs};
}

// Where all magnitudes are the same, top_k's delta is reached: here in round 1, and after 10 rounds there is nothing
// left.
line dcgd_alone() {
    auto const f = spheres(1, 20, 0, 10);
    top_k<> const c{2};
    auto const v = [&](course const& at, std::size_t k) { return f.gap(at[k].x); };
    return {"dcgd(top_k(2))", "top_k's delta, reached", "a sphere, n=1, d=20",
            measure(as_common(composed(dcgd{c}, f)), f, 9, 1, v), geometric(f.gap(f.start), c.delta(20), 0, 9)};
}

}  // namespace

std::vector<line> dcgd_lines(options const& o) {
    return {dcgd_exact(o.runs), dcgd_bound(o.runs), dcgd_natural(o.runs), dcgd_alone()};
}

}  // namespace convergence
