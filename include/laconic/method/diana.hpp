// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <string>

#include "laconic/descent.hpp"
#include "laconic/method/rates.hpp"
#include "laconic/optim/prox.hpp"

namespace laconic {

/// DIANA (Mishchenko, Gorbunov, Takac, Richtarik, arXiv:1901.09269): unbiasedly compressed differences to a memory that
/// learns the gradients at the optimum. With memory rate alpha = 1 / (2 (1 + omega)) and
///     step = min{ alpha / mu, 2 / ((L + mu)(1 + 2 omega / n)) },            L = max L_i,
/// V = |x - x*|^2 + (4 omega (1 + omega) / n) step^2 mean |h_i - grad f_i(x*)|^2 falls in expectation by 1 - step mu a
/// round (theorem 1 there, for any unbiased compressor; a prox is allowed). Any alpha up to 1 / (1 + omega) is
/// accepted.
template <class C, class P = no_prox>
struct diana {
    static_assert(
        Unbiased<C>,
        "diana needs an unbiased compressor, one with omega(d): rand_k, quantize, natural, or a pipe of them. A "
        "contractive one such as top_k goes with ef21 or ef.");
    C compressor;
    rates given{};
    P prox{};

    template <Scalar T, class B>
    recursion<C, proximal<gradient_step, P>> compose(problem const& p) const {
        double const omega = detail::omega_of(compressor, p, "diana", "use ef or ef21 for a contractive one");
        double const alpha = detail::memory_or(given, 1 / (2 * (1 + omega)), 1 / (1 + omega), "diana");
        double const step = detail::step_or(given, p, "diana", [&] {
            double const l = detail::known(p.largest_smoothness, "max L_i", "diana"), mu = p.strong_convexity;
            double const fast = 2 / ((l + mu) * (1 + 2 * omega / p.workers));
            return mu > 0 ? std::min(alpha / mu, fast) : fast;
        });
        return {compressor, alpha, false, 1, {gradient_step{step}, prox, step}, {}};
    }

    bool operator==(diana const&) const = default;
    friend std::string to_string(diana const& m) { return detail::called("diana", to_string(m.compressor), m.given); }
};
template <class C, class P = no_prox>
diana(C, rates = {}, P = {}) -> diana<C, P>;

}  // namespace laconic
