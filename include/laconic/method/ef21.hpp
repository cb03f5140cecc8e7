// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>

#include "laconic/method/overrides.hpp"
#include "laconic/recursion.hpp"

namespace laconic {

/// EF21 (Richtarik, Sokolov, Fatkhullin, NeurIPS 2021): each rank sends the difference of its gradient to its shift
/// h_i, the sum of its messages so far, through a contractive compressor. With theta = 1 - sqrt(1 - delta), beta = (1 -
/// delta) / theta, and
///     step = 1 / (L + Lt sqrt(beta / theta)),                               Lt = sqrt(mean L_i^2), or, where mu > 0,
///     step = min{ 1 / (L + Lt sqrt(2 beta / theta)), theta / (2 mu) } :
/// f(x^k) - f* + (step / theta) mean |h_i - grad f_i(x^k)|^2, with h_i after round k, falls by the factor 1 - step mu a
/// round (theorem 2, under the Polyak-Lojasiewicz inequality). With batches no theorem gives the step: give it
/// yourself.
template <class C>
struct ef21 {
    static_assert(detail::require_members<C>());
    static_assert(
        Contractive<C>,
        "ef21 needs a contractive compressor, one with delta(d): top_k, or top_k | natural. An unbiased one such "
        "as rand_k or quantize goes with diana.");
    C compressor;
    overrides given{};

    template <Scalar T, class B>
    recursion<C, memory<T, B>> compose(problem const& p) const {
        detail::theory const of(*this, p);
        double const step = of.step([&] {
            of.refuse_batch();
            double const l = of.smoothness(), lt = of.mean_square_smoothness();
            double const delta = of.delta(compressor, "use diana for an unbiased one, or give the step");
            double const theta = 1 - std::sqrt(1 - delta), beta = (1 - delta) / theta;
            if (p.strong_convexity > 0)
                return std::min(1 / (l + lt * std::sqrt(2 * beta / theta)), theta / (2 * p.strong_convexity));
            return 1 / (l + lt * std::sqrt(beta / theta));
        });
        return {compressor, {1, 0}, gradient_step{step}, {}, given.batch};
    }

    bool operator==(ef21 const&) const = default;
    static constexpr void description(auto&& describe) {
        describe("ef21", "g full or mini-batch, C contractive, alpha 1", "Richtarik, Sokolov, Fatkhullin, NeurIPS 2021",
                 detail::compressor_field, detail::step_field, detail::batch_field);
    }
};
template <class C>
ef21(C, overrides = {}) -> ef21<C>;

}  // namespace laconic
