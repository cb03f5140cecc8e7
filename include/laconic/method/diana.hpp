// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <limits>
#include <string>

#include "laconic/descent.hpp"
#include "laconic/method/rates.hpp"
#include "laconic/optim/prox.hpp"

namespace laconic {

/// DIANA (Mishchenko, Gorbunov, Takac, Richtarik, arXiv:1901.09269): unbiasedly compressed differences to a memory that
/// learns the gradients at the optimum. With memory rate alpha = 1 / (2 (1 + omega)) and
///     step = min{ alpha / mu, 2 / ((L + mu)(1 + 2 omega / n)) },            L = max L_i, mu = min mu_i,
/// V = |x - x*|^2 + (4 omega (1 + omega) / n) step^2 mean |h_i - grad f_i(x*)|^2 falls in expectation by 1 - step mu a
/// round (theorem 1 there, for any unbiased compressor; a prox is allowed). For another alpha up to 1 / (1 + omega), 2
/// omega / n becomes omega / (n (1 - alpha (1 + omega))), or step = min{ alpha / (2 mu), 2 / ((L + mu)(1 + 6 omega /
/// n)) } (Horvath et al., arXiv:1904.05115), whichever is longer.
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
            double const l = detail::known(p.largest_smoothness, "max L_i", "diana"), mu = p.least_strong_convexity;
            double const n = p.workers, left = 1 - alpha * (1 + omega);
            double const none = std::numeric_limits<double>::infinity();
            double const sharp =
                left > 0 ? std::min(mu > 0 ? alpha / mu : none, 2 / ((l + mu) * (1 + omega / (n * left)))) : 0;
            double const general = std::min(mu > 0 ? alpha / (2 * mu) : none, 2 / ((l + mu) * (1 + 6 * omega / n)));
            return std::max(sharp, general);
        });
        return {compressor, alpha, false, 1, {gradient_step{step}, prox, step}, {}};
    }

    bool operator==(diana const&) const = default;
    friend std::string to_string(diana const& m) { return detail::called("diana", to_string(m.compressor), m.given); }
};
template <class C, class P = no_prox>
diana(C, rates = {}, P = {}) -> diana<C, P>;

}  // namespace laconic
