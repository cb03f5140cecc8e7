// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "laconic/compress/quantize.hpp"
#include "laconic/method/overrides.hpp"
#include "laconic/recursion.hpp"

/// Gradient descent, in full and with compressed gradients and no memory, and its forms that have names of their own;
/// and dual averaging.
namespace laconic {

/// Distributed gradient descent with uncompressed gradients. The step is 1/L, with which f - f* falls at least by the
/// factor 1 - mu/L a round (Nesterov, Lectures on convex optimization, theorem 2.1.15). For batches see sgd.
struct gd {
    overrides given{};

    template <Scalar T, class B>
    recursion<identity, memory<T, B>> compose(problem const& p) const {
        detail::theory const of(*this, p);
        double const step = of.step([&] { return 1 / of.smoothness(); });
        return {identity{}, {}, gradient_step{step}};
    }

    bool operator==(gd const&) const = default;
    static constexpr void description(auto&& describe) {
        describe("gd", "g full, C identity, alpha 0", "gradient descent", detail::step_field);
    }
};

namespace detail {

double dcgd_step(auto const& compressor, theory const& of) {
    auto const& p = of.p;
    return of.step([&] {
        if (p.workers == 1 && of.given.batch == 0 && is_contractive(compressor) && !is_unbiased(compressor)) {
            static_cast<void>(of.delta(compressor, "give the step yourself"));  // there may be none
            return 1 / of.smoothness();
        }
        double const omega = of.omega(compressor, "give the step, or use ef_sgd or ef21");
        return 1 / (of.smoothness() + 2 * omega * of.largest_smoothness() / p.workers +
                    2 * (1 + omega) * of.noise_of_batch());
    });
}
template <Scalar T, class B, class C>
recursion<C, memory<T, B>> compose_dcgd(C const& compressor, theory const& of) {
    return {compressor, {}, gradient_step{dcgd_step(compressor, of)}, {}, of.given.batch};
}

}  // namespace detail

/// Gradient descent with compressed gradients and no memory: QSGD, TernGrad, rand-k descent. With an unbiased
/// compressor, batches of b rows on each of n workers, and
///     step = 1 / (L + 2 omega max L_i / n + 2 (1 + omega) max L_ij / (n b)), the last for batches only,
///     E|x^k - x*|^2 <= (1 - step mu)^k |x^0 - x*|^2 + step / (n mu) (2 omega zeta^2 + 2 (1 + omega) sigma^2 / b) :
/// it approaches the optimum up to a distance; zeta^2 = mean_i |grad f_i(x*)|^2, and sigma^2 is the mean variance of a
/// row's gradient at x* (Gorbunov, Hanzely, Richtarik, AISTATS 2020).
///
/// One worker alone may use a contractive compressor, with step = 1 / L: a round that keeps a share q >= delta of |grad
/// f|^2 lowers f by at least q |grad f|^2 / (2 L), so E f(x^k) - f* <= (1 - delta mu / L)^k (f(x^0) - f*) (the descent
/// lemma; CAT, Khirirat et al., arXiv:2003.06377). On several workers, where it may diverge, give the step.
template <class C>
struct dcgd {
    static_assert(detail::require_compressor<C>());

    C compressor;
    overrides given{};

    template <Scalar T, class B>
    auto compose(problem const& p) const {
        return detail::compose_dcgd<T, B>(compressor, {*this, p});
    }
    bool operator==(dcgd const&) const = default;
    static constexpr void description(auto&& describe) {
        describe("dcgd", "g full or mini-batch, C unbiased, alpha 0", "Gorbunov, Hanzely, Richtarik, AISTATS 2020",
                 detail::compressor_field, detail::step_field, detail::batch_field);
    }
};
template <class C>
dcgd(C, overrides = {}) -> dcgd<C>;

/// Distributed stochastic gradient descent: each of n workers sends the uncompressed gradient of a batch of b of its
/// rows, of one row where no batch is given. For convex f_ij and step = 1 / (L + 2 max L_ij / (n b)),
///     E|x^k - x*|^2 <= (1 - step mu)^k |x^0 - x*|^2 + 2 step sigma^2 / (mu n b) ,
/// sigma^2 being the mean variance of a row's gradient at x*: dcgd's theorem for omega = 0 (Gower et al., ICML 2019,
/// theorem 3.1, has the same for half the step). For all rows see gd.
struct sgd {
    overrides given{};

    template <Scalar T, class B>
    auto compose(problem const& p) const {
        return detail::compose_dcgd<T, B>(identity{}, detail::theory(*this, p).with_rows());
    }
    bool operator==(sgd const&) const = default;
    static constexpr void description(auto&& describe) {
        describe("sgd", "g mini-batch, C identity, alpha 0", "Robbins, Monro 1951; Gower et al., ICML 2019",
                 detail::step_field, detail::rows_field.written());
    }
};

/// QSGD (Alistarh, Grubic, Li, Tomioka, Vojnovic, NeurIPS 2017): dcgd with random rounding to `levels` levels of the
/// 2-norm of the whole gradient, and dcgd's step.
struct qsgd {
    int levels = 4;
    overrides given{};

    template <Scalar T, class B>
    auto compose(problem const& p) const {
        return detail::compose_dcgd<T, B>(quantize{levels, 0, p_norm::two}, {*this, p});
    }
    bool operator==(qsgd const&) const = default;
    static constexpr void description(auto&& describe) {
        describe("qsgd", "g full or mini-batch, C quantize of the 2-norm, alpha 0", "Alistarh et al., NeurIPS 2017",
                 field("levels", &qsgd::levels).between(1, 32767).written_by_name(), detail::step_field,
                 detail::batch_field);
    }
};

/// TernGrad (Wen et al., NeurIPS 2017): dcgd that rounds each number at random to 0 or plus or minus the largest
/// magnitude, after clipping at `clip` standard deviations of the gradient's numbers (2.5 in the paper; 0: none). The
/// step is dcgd's, for omega = (sqrt d - 1) / 2; clipping is biased, and no theorem gives a step then.
struct terngrad {
    double clip = 0;
    overrides given{};

    template <Scalar T, class B>
    recursion<quantize, memory<T, B>, gradient_step, fixed_level, clipped<mini_batch>> compose(problem const& p) const {
        detail::theory const of(*this, p);
        quantize const c{1, 0, p_norm::largest};
        double const step = clip > 0 ? of.own_step("clipped gradients are biased") : detail::dcgd_step(c, of);
        return {c, {}, gradient_step{step}, {}, {given.batch, clip, clip_at::deviations}};
    }
    bool operator==(terngrad const&) const = default;
    static constexpr void description(auto&& describe) {
        describe("terngrad", "g clipped, C quantize to one level of the largest, alpha 0", "Wen et al., NeurIPS 2017",
                 field("clip", &terngrad::clip).between(0, 1e300).by_name(), detail::step_field, detail::batch_field);
    }
};

/// Dual averaging (Nesterov, Math. Programming 2009), with uncompressed gradients: x^T = x^0 - (step / sqrt(T)) (the
/// sum of T gradients), a slow baseline that also minimises convex functions that are not smooth. For the mean of x^0
/// .. x^(T-1), which the step part keeps (method().step.average()), with R = |x^0 - x*| and gradients of norm at most
/// G,
///     f(mean) - f* <= (R^2 / (2 step) + step G^2) / sqrt(T) ,
/// least for step = R / (sqrt(2) G). Without a step it is 1 / (2 L), with which f(mean) - f* <= 2 L R^2 / sqrt(T) for
/// smooth convex f: there |grad f|^2 <= 2 L (f - f*) replaces G.
struct dual_averaging {
    overrides given{};

    template <Scalar T, class B>
    recursion<identity, memory<T, B>, dual_averaging_step<T, B>> compose(problem const& p) const {
        detail::theory const of(*this, p);
        double const step = of.step([&] { return 1 / (2 * of.smoothness()); });
        return {identity{}, {}, dual_averaging_step<T, B>(step), {}, given.batch};
    }

    bool operator==(dual_averaging const&) const = default;
    static constexpr void description(auto&& describe) {
        describe("dual_averaging", "g full or mini-batch, C identity, alpha 0; x from the sum of all",
                 "Nesterov, Math. Programming 2009", detail::step_field, detail::batch_field);
    }
};

}  // namespace laconic
