// SPDX-License-Identifier: Apache-2.0
// Shifts and differences: diana, marina and proxskip, beside their theorems.
#include <algorithm>
#include <cmath>

#include "laconic/compress/natural.hpp"
#include "laconic/compress/rand_k.hpp"
#include "laconic/method/diana.hpp"
#include "laconic/method/local_sgd.hpp"
#include "laconic/method/marina.hpp"
#include "line.hpp"
#include "moments.hpp"
#include "trial.hpp"

namespace convergence {

using namespace laconic;

namespace {

constexpr char const* shifts_on_spheres = "spheres, n=8, d=20";
constexpr char const* shifts_on_valleys = "valleys, n=8, d=10, kappa=10";

line diana_exact(std::size_t runs) {
    auto const f = spheres(8, 20, 1, 10);
    rand_k<> const c{5};
    double const omega = c.omega(20), alpha = 1 / (2 * (1 + omega)), s = std::min(alpha, 1 / (1 + 2 * omega / 8));
    auto const v = [&](course const& at, std::size_t k) { return f.distance(at[k].x); };
    return {"diana(rand_k(5))",
            "the variance of rand-k",
            shifts_on_spheres,
            measure(as_common(composed(diana{c}, f)), f, 60, runs, v),
            diana_moments(f, omega, alpha, s, 60),
            true,
            runs};
}

line diana_bound(std::size_t runs) {
    auto const f = valleys(8, 10, .1, .3);
    auto const& p = f.constants;
    auto const c = rand_k{2} | natural{};
    double const omega = c.omega(10), alpha = 1 / (2 * (1 + omega)), mu = p.least_strong_convexity;
    double const s = std::min(alpha / mu, 2 / ((p.largest_smoothness + mu) * (1 + 2 * omega / 8)));
    auto const v = [&](course const& at, std::size_t k) {
        return f.distance(at[k].x) + 4 * omega * (1 + omega) / 8 * s * s * f.memory_error(at[k].known);
    };
    auto const run = measure(as_common(composed(diana{c}, f)), f, 150, runs, v);
    return {"diana(rand_k(2) | natural)",
            "Mishchenko et al. 2019, thm 1",
            shifts_on_valleys,
            run,
            geometric(run.mean[0], s * mu, 0, 150),
            false,
            runs};
}

// f - f* is at most the function that the theorem bounds, and equal to it at the start, where all send in full.
line marina_bound(std::size_t runs) {
    auto const f = valleys(8, 10, .1, .3);
    auto const& p = f.constants;
    rand_k<> const c{2};
    double const omega = c.omega(10), q = 1 / (1 + omega), mu = p.strong_convexity;
    double const noise = (1 - q) * omega / (q * 8);
    double const s = std::min(1 / (p.mean_square_smoothness * (1 + std::sqrt(2 * noise))), q / (2 * mu));
    auto const v = [&](course const& at, std::size_t k) { return f.gap(at[k].x); };
    return {"marina(rand_k(2)), f - f*",
            "Gorbunov et al. 2021",
            shifts_on_valleys,
            measure(composed(marina{c}, f), f, 150, runs, v),
            geometric(f.gap(f.start), s * mu, 0, 150),
            false,
            runs};
}

// A round is a number of local steps that all ranks draw, geometric with the mean 1 / p: each leaves 1 - s of the mean
// of the x_i, whatever the shifts, as their mean is 0.
line proxskip_exact(std::size_t runs) {
    auto const f = spheres(8, 20, 1, 10);
    double const p = .3, s = .05, kept = (1 - s) * (1 - s);
    auto const v = [&](course const& at, std::size_t k) { return f.distance(at[k].x); };
    return {"proxskip(p=0.3, step=0.05)",
            "the number of local steps",
            shifts_on_spheres,
            measure(composed(proxskip{p, {.step = s}}, f), f, 30, runs, v),
            geometric(f.distance(f.start), 1 - p * kept / (1 - (1 - p) * kept), 0, 30),
            true,
            runs};
}

}  // namespace

std::vector<line> diana_lines(options const& o) { return {diana_exact(o.runs), diana_bound(o.runs)}; }
std::vector<line> shift_lines(options const& o) { return {proxskip_exact(2 * o.runs), marina_bound(o.runs)}; }

}  // namespace convergence
