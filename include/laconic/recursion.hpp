// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <utility>

#include "laconic/adapt/level.hpp"
#include "laconic/collective/collective.hpp"
#include "laconic/compress/identity.hpp"
#include "laconic/estimate/estimator.hpp"
#include "laconic/feedback/memory.hpp"
#include "laconic/optim/step.hpp"

namespace laconic {

/// One method, as the parts and parameters of the one equation:
///
///     g_i    = scale x estimator's gradient    delta_i = g_i - h_i + e_i   by the feedback
///     m_i    = C(delta_i)                       C tuned by the level
///     d      = mean_i(h_i + m_i)               by the transport and the feedback
///     x     <- step(x, d)
///
/// The named methods of method/ fill one in from the theorems; you may replace any part. All ranks start with the same
/// recursion.
template <class C, class F = memory<>, class S = gradient_step, class L = fixed_level, class E = mini_batch,
          class X = gather_all>
struct recursion {
    C compressor{};
    F feedback{};
    S step{};
    L level{};
    E estimator{};
    X over{};
    double scale = 1;

    void state(auto& archive) { archive(feedback, step, level, estimator); }
    /// The same with another part.
    template <class New>
    recursion<New, F, S, L, E, X> with_compressor(New c) const {
        return {std::move(c), feedback, step, level, estimator, over, scale};
    }
    template <class New>
    recursion<C, New, S, L, E, X> with_feedback(New f) const {
        return {compressor, std::move(f), step, level, estimator, over, scale};
    }
    template <class New>
    recursion<C, F, New, L, E, X> with_step(New s) const {
        return {compressor, feedback, std::move(s), level, estimator, over, scale};
    }
    template <class New>
    recursion<C, F, S, New, E, X> with_level(New l) const {
        return {compressor, feedback, step, std::move(l), estimator, over, scale};
    }
    template <class New>
    recursion<C, F, S, L, New, X> with_estimator(New e) const {
        return {compressor, feedback, step, level, std::move(e), over, scale};
    }
    template <class New>
    recursion<C, F, S, L, E, New> with_over(New x) const {
        return {compressor, feedback, step, level, estimator, std::move(x), scale};
    }
};

/// A recursion, or a type of your own with the same members.
template <class R>
concept Recursion = std::movable<R> && requires(R r) {
    r.compressor;
    r.feedback;
    r.step;
    r.level;
    r.estimator;
    r.over;
    { r.scale } -> std::convertible_to<double>;
};

/// A method of method/: a type that fills in a recursion from the constants of a problem.
template <class M, class T = double, class B = host>
concept Method = requires(M const& method, problem const& p) {
    { method.template compose<T, B>(p) } -> Recursion;
};

}  // namespace laconic
