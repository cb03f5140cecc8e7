// SPDX-License-Identifier: Apache-2.0
// cat chooses the level that makes most progress for the cost of its message, beside its theorem.
#include <algorithm>
#include <cmath>
#include <functional>

#include "laconic/compress/signs.hpp"
#include "laconic/compress/top_k.hpp"
#include "laconic/method/cat.hpp"
#include "line.hpp"
#include "trial.hpp"

namespace convergence {

using namespace laconic;

namespace {

constexpr std::size_t coordinates = 64, place = 6;  // ceil(log2 coordinates)
constexpr double per_message = 400;

// The level T of the most progress q(T) for its cost, and q(T), from the formulas of the paper: S keeps
// |g_T|^2 / |g|^2 in T (64 + ceil(log2 d)) bits, S + Q keeps |g_T|_1^2 / (T |g|^2) in 64 + T (1 + ceil(log2 d)).
struct best {
    std::size_t level = 1;
    double share = 0;

    best(vec g, bool signs) {
        for (double& v : g) v = std::abs(v);
        std::sort(g.begin(), g.end(), std::greater<>{});
        double const all = squared(g);
        double sum = 0, squares = 0, most = 0;
        for (std::size_t t = 1; t <= coordinates; ++t) {
            sum += g[t - 1];
            squares += g[t - 1] * g[t - 1];
            auto const count = static_cast<double>(t);
            double const q = (signs ? sum * sum / count : squares) / all;
            double const bits = signs ? 64 + count * (1 + place) : count * (64 + place);
            if (q / (bits + per_message) > most) {
                most = q / (bits + per_message);
                share = q;
                level = t;
            }
        }
    }
};

// On a sphere with step 1 / L the gradient is what is left of x, of which a message takes what it says: both schemes
// bring f - f* down by exactly 1 - q(T), so the gradients of all rounds are known beforehand.
line on_sphere(bool signs) {
    vec start(coordinates);
    for (std::size_t j = 0; j < coordinates; ++j)
        start[j] = (j % 2 ? -1 : 1) * std::pow(static_cast<double>(j + 1), -.7);
    toy const f({worker({{vec(coordinates, 1), vec(coordinates, 0)}})}, start);
    std::size_t const rounds = signs ? 25 : 8;
    vec left = start, bound{f.gap(start)};
    for (std::size_t k = 0; k < rounds; ++k) {
        best const b(left, signs);
        vec sorted = left;
        std::sort(sorted.begin(), sorted.end(), [](double p, double q) { return std::abs(p) > std::abs(q); });
        double mean = 0;
        for (std::size_t j = 0; j < b.level; ++j) {
            mean += std::abs(sorted[j]) / static_cast<double>(b.level);
        }
        for (std::size_t j = 0; j < b.level; ++j) sorted[j] = signs ? sorted[j] - std::copysign(mean, sorted[j]) : 0;
        left = sorted;
        bound.push_back((1 - b.share) * bound.back());
    }
    auto const v = [&](course const& at, std::size_t k) { return f.gap(at[k].x); };
    auto const cost = affine_cost(1, per_message);
    measured const run = signs ? measure(composed(cat{top_k{1} | scaled_sign{}, cost}, f), f, rounds, 1, v)
                               : measure(composed(cat{top_k{1}, cost}, f), f, rounds, 1, v);
    return {signs ? "cat(top_k | scaled_sign)" : "cat(top_k)",
            "Khirirat et al. 2020, L=mu",
            "a sphere, n=1, d=64",
            run,
            bound,
            true};
}

line in_valley(bool signs) {
    auto f = valleys(1, coordinates, .25, 0);
    auto const& p = f.constants;
    vec shares;
    course all(202);
    auto const cost = affine_cost(1, per_message);
    if (signs)
        run(std::vector{composed(cat{top_k{1} | scaled_sign{}, cost}, f)}, f, 1, all);
    else
        run(std::vector{composed(cat{top_k{1}, cost}, f)}, f, 1, all);
    measured m{{}, vec(201)};
    vec bound{f.gap(f.start)}, g(coordinates);
    for (std::size_t k = 0; k <= 200; ++k) {
        m.mean.push_back(f.gap(all[k].x));
        f.workers[0].gradient(all[k].x, g);
        if (k < 200) bound.push_back((1 - best(g, signs).share * p.strong_convexity / p.smoothness) * bound.back());
    }
    return {signs ? "cat(top_k | scaled_sign)" : "cat(top_k)", "Khirirat et al. 2020", "a valley, n=1, d=64, kappa=4",
            m, bound};
}

}  // namespace

std::vector<line> cat_lines(options const&) {
    return {on_sphere(false), in_valley(false), on_sphere(true), in_valley(true)};
}

}  // namespace convergence
