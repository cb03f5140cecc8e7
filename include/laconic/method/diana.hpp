// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <limits>

#include "laconic/estimate/mini_batch.hpp"
#include "laconic/method/overrides.hpp"
#include "laconic/recursion.hpp"

namespace laconic {

namespace detail {

// The longer of the two forms' steps; for batches there is the general form alone.
inline double diana_step(double omega, double alpha, theory const& of) {
    double const l = of.largest_smoothness(), mu = of.p.least_strong_convexity, n = of.p.workers;
    auto const at_most = [](double share, double m) {
        return m > 0 ? share / m : std::numeric_limits<double>::infinity();
    };
    if (of.given.batch > 0)
        return std::min(at_most(alpha / 2, of.p.strong_convexity),
                        1 / (of.smoothness() + 6 * omega * l / n + (2 + 10 * omega) * of.noise_of_batch()));
    double const left = 1 - alpha * (1 + omega);
    double const sharp = left > 0 ? std::min(at_most(alpha, mu), 2 / ((l + mu) * (1 + omega / (n * left)))) : 0;
    return std::max(sharp, std::min(at_most(alpha / 2, mu), 2 / ((l + mu) * (1 + 6 * omega / n))));
}

}  // namespace detail

/// DIANA (Mishchenko, Gorbunov, Takac, Richtarik, arXiv:1901.09269): unbiasedly compressed differences to a shift that
/// converges to the gradients at the optimum. With memory rate alpha = 1 / (2 (1 + omega)) and
///     step = min{ alpha / mu, 2 / ((L + mu)(1 + 2 omega / n)) },            L = max L_i, mu = min mu_i,
/// V = |x - x*|^2 + (4 omega (1 + omega) / n) step^2 mean |h_i - grad f_i(x*)|^2 falls in expectation by the factor 1 -
/// step mu a round (theorem 1 there, for any unbiased compressor; a prox is allowed). For another alpha up to 1 / (1 +
/// omega), 2 omega / n becomes omega / (n (1 - alpha (1 + omega))), or step = min{ alpha / (2 mu), 2 / ((L + mu)(1 + 6
/// omega / n)) } (Horvath et al., arXiv:1904.05115), whichever is longer. With batches of b rows on each worker and
///     step = min{ alpha / (2 mu), 1 / (L + 6 omega max L_i / n + (2 + 10 omega) max L_ij / (n b)) },    L and mu of f,
/// |x - x*|^2 + (4 omega / (alpha n)) step^2 mean |h_i - grad f_i(x*)|^2 falls by the same factor, down to a floor to
/// which each round adds (2 + 10 omega) step^2 sigma^2 / (n b), sigma^2 being the mean variance of a row's gradient at
/// x* (by the general form's proof).
template <class C>
struct diana {
    static_assert(detail::require_members<C>());
    static_assert(
        Unbiased<C>,
        "diana needs an unbiased compressor, one with omega(d): rand_k, quantize, natural, or a pipe of them. A "
        "contractive one such as top_k goes with ef21 or ef_sgd.");
    C compressor;
    overrides given{};

    template <Scalar T, class B>
    recursion<C, memory<T, B>, gradient_step, fixed_level, mini_batch> compose(problem const& p) const {
        detail::theory const of(*this, p);
        double const omega = of.omega(compressor, "use ef_sgd or ef21 for a contractive one");
        double const alpha = of.memory(1 / (2 * (1 + omega)), 1 / (1 + omega));
        double const step = of.step([&] { return detail::diana_step(omega, alpha, of); });
        return {compressor, {alpha, 0}, gradient_step{step}, {}, given.batch};
    }

    bool operator==(diana const&) const = default;
    static constexpr void description(auto&& describe) {
        describe("diana", "g full or mini-batch, C unbiased, alpha in (0, 1/(1+omega)]",
                 "Mishchenko, Gorbunov, Takac, Richtarik, arXiv:1901.09269", detail::compressor_field,
                 detail::step_field, detail::memory_field, detail::batch_field);
    }
};
template <class C>
diana(C, overrides = {}) -> diana<C>;

}  // namespace laconic
