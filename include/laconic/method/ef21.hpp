// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>

#include "laconic/compress/clip.hpp"
#include "laconic/method/overrides.hpp"
#include "laconic/method/proved_step.hpp"
#include "laconic/recursion.hpp"

namespace laconic {

/// EF21 (Richtarik, Sokolov, Fatkhullin, NeurIPS 2021): each rank sends the difference between its gradient and its
/// shift h_i, which is the sum of its messages so far, through a contractive compressor. Two theorems give a step: that
/// of the faster rate is taken, and proved(problem) returns it with its rate. With g_i = grad f_i(x^k), h_i after round
/// k, s = sqrt(1 - delta), theta = 1 - s, beta = (1 - delta) / theta and Lt = sqrt(mean L_i^2), theorem 2 (under the
/// Polyak-Lojasiewicz inequality) has
///     step = min{ 1 / (L + Lt sqrt(2 beta / theta)), theta / (2 mu) },
/// by which f(x^k) - f* + (step / theta) mean |h_i - g_i|^2 is multiplied by at most 1 - step mu in a round. The tight
/// theorem (proved_step::tight, arXiv:2605.31594) needs strongly convex f_i, takes max L_i and min mu_i, and bounds
///     V = (s / n) |sum g_i|^2 + sum |g_i - h_i|^2 .
/// If f is not strongly convex, theorem 1 has step = 1 / (L + Lt sqrt(beta / theta)) and no rate. With mini-batches no
/// theorem gives a step: give `step`.
///
/// With `means` the step is that of the tight theorem with the means of L_i and mu_i in place of max L_i and min mu_i,
/// which is longer if ranks differ. That is not proved: semidefinite programs for up to 4 ranks found no
/// counterexample. L and mu of the problem are taken for the means, which is what agree_on_problem makes them.
///
/// With control eta > 0 it is EControl (Gao, Islamov, Stich, ICLR 2024), for mini-batches: each rank also keeps a
/// residual, delta_i = g_i - h_i + eta e_i and e_i <- e_i + g_i - h_i - m_i. eta is of the order of delta / 10, no
/// theorem here gives the step, and with exact gradients it does not pay.
template <class C>
struct ef21 {
    static_assert(detail::require_members<C>());
    static_assert(
        Contractive<C>,
        "ef21 needs a contractive compressor, one with delta(d): top_k, or top_k | natural. An unbiased one such "
        "as rand_k or quantize goes with diana.");
    C compressor;
    overrides given{};
    bool means = false;
    double control = 0;

    template <Scalar T, class B>
    recursion<C, memory<T, B>> compose(problem const& p) const {
        detail::theory const of(*this, p);
        double const step = of.step([&] {
            if (control > 0) throw of.lacks({"no theorem here gives its step with control; give the step yourself"});
            if (!means || p.answer_delta > 0) return proved(p).size;
            of.refuse_batch();
            return proved_step::tight(of.smoothness(), of.strong_convexity(), delta(of)).size;
        });
        return {compressor, {1, control, 0, true, false, control > 0}, gradient_step{step}, {}, given.batch};
    }

    /// With control a rank that sends nothing would move its residual.
    detail::when_absent absence() const {
        return control > 0 ? detail::when_absent::refused : detail::when_absent::allowed;
    }

    /// The step that compose() takes unless one is given or `means` is set, with the theorem that promises it. Throws
    /// theory_error where no theorem gives one.
    proved_step proved(problem const& p) const {
        detail::theory const of(*this, p);
        of.refuse_batch();
        double const l = of.smoothness(), lt = of.mean_square_smoothness(), mu = p.strong_convexity;
        double const kept = delta(of), theta = 1 - std::sqrt(1 - kept), beta = (1 - kept) / theta;
        if (p.answer_delta > 0) return proved_step::ef21_p(l, lt, kept, p.answer_delta);
        if (!(mu > 0))
            return {1 / (l + lt * std::sqrt(beta / theta)), 1, "theorem 1 of Richtarik, Sokolov, Fatkhullin 2021"};
        double const step = std::min(1 / (l + lt * std::sqrt(2 * beta / theta)), theta / (2 * mu));
        proved_step const loose{step, 1 - step * mu, "theorem 2 of Richtarik, Sokolov, Fatkhullin 2021"};
        if (!(p.least_strong_convexity > 0 && p.largest_smoothness > 0)) return loose;
        auto const tight = proved_step::tight(p.largest_smoothness, p.least_strong_convexity, kept);
        return tight.factor < loose.factor ? tight : loose;
    }

    bool operator==(ef21 const&) const = default;
    static constexpr void description(auto&& describe) {
        describe(
            "ef21", "g full or mini-batch, C contractive, alpha 1",
            "Richtarik, Sokolov, Fatkhullin, NeurIPS 2021; arXiv:2605.31594; EControl: Gao, Islamov, Stich, ICLR 2024",
            detail::compressor_field, detail::step_field, detail::batch_field, field("means", &ef21::means),
            field("control", &ef21::control).between(0, 1).by_name());
    }

  private:
    double delta(detail::theory const& of) const {
        return of.delta(compressor, "use diana for an unbiased one, or give the step");
    }
};
template <class C>
ef21(C, overrides = {}, bool = false, double = 0) -> ef21<C>;

/// EF21-SGDM (Fatkhullin, Tyurin, Richtarik, NeurIPS 2023): EF21 whose gradients are each rank's running mean,
/// v_i <- (1 - eta) v_i + eta g_i, from v_i = g_i in the first round on. With mini-batches, whose noise EF21 keeps
/// adding up, no batch has to be large. eta = 1 is ef21. No theorem here gives the step.
template <class C>
struct ef21_sgdm {
    static_assert(detail::require_compressor<C>());

    C compressor;
    double eta = 0.1;
    overrides given{};

    template <Scalar T, class B>
    recursion<C, memory<T, B>, gradient_step, fixed_level, local_momentum<mini_batch, T, B>> compose(
        problem const& p) const {
        detail::theory const of(*this, p);
        double const step = of.own_step("no theorem here gives its step");
        return {
            compressor, {1, 0}, gradient_step{step}, {}, local_momentum<mini_batch, T, B>(1 - eta, given.batch, true)};
    }
    static constexpr detail::when_absent absence() { return detail::when_absent::allowed; }

    bool operator==(ef21_sgdm const&) const = default;
    static constexpr void description(auto&& describe) {
        describe("ef21_sgdm", "g a running mean of mini-batch gradients, C contractive, alpha 1",
                 "Fatkhullin, Tyurin, Richtarik, NeurIPS 2023", detail::compressor_field,
                 field("eta", &ef21_sgdm::eta).between(detail::above_0, 1).written_by_name(), detail::step_field,
                 detail::batch_field);
    }
};
template <class C>
ef21_sgdm(C, double = 0.1, overrides = {}) -> ef21_sgdm<C>;

/// Clip21-SGD2M (Islamov et al., arXiv:2502.11682): EF21 whose messages are clipped, not compressed, of each rank's
/// running mean. With v_i = h_i = 0 at the start and the rate b, which is `memory`, 1 unless given,
///     v_i <- (1 - eta) v_i + eta g_i,
///     h_i <- h_i + b min(1, limit / |v_i - h_i|) (v_i - h_i),    x <- x - step mean h_i.
/// No message is longer than b limit, and once differences are short it clips no more: unlike SGD of clipped gradients
/// it ends at the optimum where ranks differ. With eta = b = 1 it is Clip21 (Khirirat et al., arXiv:2305.18929). It
/// adds no noise for privacy: all that a rank draws here follows from the seed, which all ranks know. No theorem here
/// gives the step.
struct clip21 {
    double limit = 1;  ///< tau
    double eta = 0.1;
    overrides given{};

    template <Scalar T, class B>
    recursion<clip, memory<T, B>, gradient_step, fixed_level, local_momentum<mini_batch, T, B>> compose(
        problem const& p) const {
        detail::theory const of(*this, p);
        double const step = of.own_step("no theorem here gives its step");
        return {{limit, of.memory(1, 1)}, {1, 0}, {step}, {}, local_momentum<mini_batch, T, B>(1 - eta, given.batch)};
    }

    bool operator==(clip21 const&) const = default;
    static constexpr void description(auto&& describe) {
        describe("clip21", "g a running mean of mini-batch gradients, C clips, alpha 1",
                 "Islamov et al., arXiv:2502.11682; Khirirat et al., arXiv:2305.18929",
                 field("limit", &clip21::limit).between(detail::above_0, 1e300).written_by_name(),
                 field("eta", &clip21::eta).between(detail::above_0, 1).written_by_name(), detail::step_field,
                 detail::memory_field, detail::batch_field);
    }
};

}  // namespace laconic
