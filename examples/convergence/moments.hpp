// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "toy.hpp"

/// Expectations of |x^k - x*|^2 on spheres, k = 0 .. rounds, as linear recursions in second moments: exact for n
/// workers who draw coordinates, blocks or coins by themselves, each coordinate with the same probability, as then
/// E|C(v) - v|^2 = omega |v|^2 for every v. They know nothing of the library.
namespace convergence {

/// Messages C(g_i - h_i) with an unbiased C, h_i <- h_i + alpha C(..), x <- x - step mean (h_i + C(..)).
vec diana_moments(toy const& f, double omega, double alpha, double step, std::size_t rounds);
/// The same where a coordinate is sent as it is with probability q, and errors are fed back: p_i = e_i + step g_i,
/// x <- x - mean C(p_i), e_i <- p_i - C(p_i).
vec ef_moments(toy const& f, double q, double step, std::size_t rounds);
/// h_i <- h_i + C(g_i - h_i), then x <- x - step mean h_i, C as in ef_moments.
vec ef21_moments(toy const& f, double q, double step, std::size_t rounds);
/// x <- x - step(k) mean C(g_i), C as in ef_moments.
template <class Step>
vec masked_moments(toy const& f, double q, Step step, std::size_t rounds) {
    vec x{f.distance(f.start)};
    for (std::size_t k = 0; k < rounds; ++k) {
        double const s = step(k), noise = s * s * q * (1 - q) / f.size();
        x.push_back(((1 - s * q) * (1 - s * q) + noise) * x.back() + noise * f.heterogeneity);
    }
    return x;
}
/// diana's messages of gradients of one row, which a reference point w corrects that moves to x with probability
/// 1 / m; row j of every worker is a sphere with curvature j / m, j = 1 .. m, around the worker's centre.
vec vr_diana_moments(toy const& f, double omega, double alpha, double step, std::size_t rounds);

/// masked_moments with gradients of one row each, corrected by a table of all rows' that is renewed where they are sent
/// (isaga); row j of every worker is a sphere with curvature j / m around 0.
vec isaga_moments(toy const& f, double q, double step, std::size_t rounds);

}  // namespace convergence
