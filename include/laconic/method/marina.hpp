// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>

#include "laconic/adapt/synchronise.hpp"
#include "laconic/core/text.hpp"
#include "laconic/feedback/last_gradient.hpp"
#include "laconic/method/overrides.hpp"
#include "laconic/recursion.hpp"

namespace laconic {

/// MARINA (Gorbunov, Burlachenko, Li, Richtarik, ICML 2021): with probability p a round all ranks at once send
/// gradients in full; else unbiasedly compressed differences to the gradients of the last round. Both ends draw the
/// same coin. p = 0 means 1 / (1 + omega). With
///     step = 1 / (L (1 + sqrt((1 - p) omega / (p n)))),                     L = sqrt(mean L_i^2), or, where mu > 0,
///     step = min{ 1 / (L (1 + sqrt(2 (1 - p) omega / (p n)))), p / (2 mu) } :
/// f(x) - f* + (step / p) |g - grad f(x)|^2, g the estimate at x, falls in expectation by the factor 1 - step mu a
/// round (under the Polyak-Lojasiewicz inequality), and for smooth f the mean of E|grad f|^2 over K rounds is at most 2
/// (f(x^0) - f*) / (step K).
template <class C>
struct marina {
    static_assert(detail::require_members<C>());
    static_assert(Unbiased<C>,
                  "marina needs an unbiased compressor, one with omega(d): rand_k, quantize, natural, or a pipe of "
                  "them. A contractive one such as top_k goes with ef21.");
    C compressor;
    double p = 0;
    overrides given{};

    template <Scalar T, class B>
    recursion<identity_or<C>, last_gradient<T, B>, gradient_step, synchronise> compose(problem const& of) const {
        detail::refuse_memory(given, "marina");
        if (given.batch > 0)
            throw argument_error(
                detail::concat({"marina: it compares full gradients; batch = ", given.batch, " cannot be given"}));
        if (!(p >= 0 && p <= 1)) throw argument_error(detail::concat({"marina: p = ", p, " is outside [0, 1]"}));
        auto const omega = [&] { return detail::omega_of(compressor, of, "marina", "use ef21 for a contractive one"); };
        double const q = p > 0 ? p : 1 / (1 + omega());
        double const step = detail::step_or(given, of, "marina", [&] {
            double const l = detail::known(of.mean_square_smoothness, "the mean square of the L_i", "marina");
            double const noise = (1 - q) * omega() / (q * of.workers), mu = of.strong_convexity;
            if (mu > 0) return std::min(1 / (l * (1 + std::sqrt(2 * noise))), q / (2 * mu));
            return 1 / (l * (1 + std::sqrt(noise)));
        });
        return {{compressor}, last_gradient<T, B>(q), gradient_step{step}, {q}};
    }

    bool operator==(marina const&) const = default;
    static constexpr void description(auto&& describe) {
        describe("marina", "g full, C unbiased, h the last gradient; all in full with probability p",
                 "Gorbunov, Burlachenko, Li, Richtarik, ICML 2021", field("compressor", &marina::compressor).needed(),
                 field("p", &marina::p).by_name(), detail::step_field);
    }
};
template <class C>
marina(C, double = 0, overrides = {}) -> marina<C>;

}  // namespace laconic
