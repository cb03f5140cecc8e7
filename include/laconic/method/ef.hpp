// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <string>

#include "laconic/descent.hpp"
#include "laconic/method/rates.hpp"

namespace laconic {

/// Error feedback (EF-SGD, Top-k SGD, 1-bit SGD; Stich et al., NeurIPS 2018; Karimireddy et al., ICML 2019): what a
/// message leaves out is added to the next one; the step is inside the memory, so it may change from round to round.
/// For a contractive compressor, full gradients of convex f_i, and
///     step = min{ 1 / (4 L), delta / (14 sqrt((1 - delta) L max L_i)) },
/// V = |x - mean e - x*|^2 + (12 step L / delta) mean |e_i|^2 obeys
///     V+ <= (1 - min(step mu / 2, delta / 4)) V + 48 step^3 L (1 - delta) / delta^2 mean_i |grad f_i(x*)|^2 ,
/// by the descent of the virtual iterate x - mean e. Steps of the order of 1 / L usually work and are yours to give.
template <class C>
struct ef {
    static_assert(SomeCompressor<C>, "ef{C}: C is not a compressor");
    C compressor;
    rates given{};

    template <Scalar T, class B>
    recursion<C> compose(problem const& p) const {
        detail::refuse_memory(given, "ef");
        double const step = detail::step_or(given, p, "ef", [&] {
            double const delta = detail::delta_of(compressor, p, "ef", "give the step");
            double const l = detail::known(p.smoothness, "the smoothness L", "ef");
            double const largest = detail::known(p.largest_smoothness, "max L_i", "ef");
            return std::min(1 / (4 * l), delta / (14 * std::sqrt((1 - delta) * l * largest)));
        });
        return {compressor, 0, true, step, gradient_step{1}, {}};
    }

    bool operator==(ef const&) const = default;
    friend std::string to_string(ef const& m) { return detail::called("ef", to_string(m.compressor), m.given); }
};
template <class C>
ef(C, rates = {}) -> ef<C>;

}  // namespace laconic
