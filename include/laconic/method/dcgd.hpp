// SPDX-License-Identifier: Apache-2.0
#pragma once


#include "laconic/compress/quantize.hpp"
#include "laconic/estimate/mini_batch.hpp"
#include "laconic/method/overrides.hpp"
#include "laconic/recursion.hpp"

namespace laconic {

namespace detail {

// Whether it is a contractive compressor without an omega, on one worker whose gradients are of all rows.
template <class C>
bool is_alone_and_contractive(C const& compressor, overrides const& given, problem const& p) {
    return p.workers == 1 && given.batch == 0 && is_contractive(compressor) && !is_unbiased(compressor);
}

template <class C>
double dcgd_step(C const& compressor, overrides const& given, problem const& p, char const* method) {
    return step_or(given, p, method, [&] {
        if (is_alone_and_contractive(compressor, given, p)) {
            static_cast<void>(delta_of(compressor, p, method, "give the step yourself"));  // there may be none
            return 1 / known(p.smoothness, "the smoothness L", method);
        }
        double const omega = omega_of(compressor, p, method, "give the step, or use ef_sgd or ef21");
        double const l = known(p.smoothness, "the smoothness L", method), noise = noise_of_batch(given, p, method);
        return 1 /
               (l + 2 * omega * known(p.largest_smoothness, "max L_i", method) / p.workers + 2 * (1 + omega) * noise);
    });
}
template <Scalar T, class B, class C>
recursion<C, memory<T, B>, gradient_step, fixed_level, mini_batch> compose_dcgd(C const& compressor,
                                                                                overrides const& given,
                                                                                problem const& p, char const* method) {
    refuse_memory(given, method);
    return {compressor, {}, gradient_step{dcgd_step(compressor, given, p, method)}, {}, given.batch};
}

}  // namespace detail

/// Gradient descent with compressed gradients and no memory: QSGD, TernGrad, rand-k descent. With an unbiased
/// compressor, batches of b rows on each of n workers, and
///     step = 1 / (L + 2 omega max L_i / n + 2 (1 + omega) max L_ij / (n b)), the last for batches only,
///     E|x^k - x*|^2 <= (1 - step mu)^k |x^0 - x*|^2 + step / (n mu) (2 omega zeta^2 + 2 (1 + omega) sigma^2 / b) :
/// it approaches the optimum up to a distance; zeta^2 = mean_i |grad f_i(x*)|^2, and sigma^2 is the mean variance of a
/// row's gradient at x* (from the variance identity and co-coercivity of convex f_i, for batches f_ij; Gorbunov,
/// Hanzely, Richtarik, AISTATS 2020, gives the same).
///
/// One worker alone may use a contractive compressor, with step = 1 / L: a round that keeps a share q >= delta of |grad
/// f|^2 lowers f by at least q |grad f|^2 / (2 L), so E f(x^k) - f* <= (1 - delta mu / L)^k (f(x^0) - f*) (the descent
/// lemma; CAT, Khirirat et al., arXiv:2003.06377). On several workers give the step; a biased compressor may then
/// diverge.
template <class C>
struct dcgd {
    static_assert(detail::require_compressor<C>());
    C compressor;
    overrides given{};

    template <Scalar T, class B>
    auto compose(problem const& p) const {
        return detail::compose_dcgd<T, B>(compressor, given, p, "dcgd");
    }

    bool operator==(dcgd const&) const = default;
    static constexpr void description(auto&& describe) {
        describe("dcgd", "g full or mini-batch, C unbiased, alpha 0", "Gorbunov, Hanzely, Richtarik, AISTATS 2020",
                 field("compressor", &dcgd::compressor).needed(), detail::step_field, detail::batch_field);
    }
};
template <class C>
dcgd(C, overrides = {}) -> dcgd<C>;

}  // namespace laconic
