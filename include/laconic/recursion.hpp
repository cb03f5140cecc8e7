// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <string>
#include <utility>

#include "laconic/adapt/level.hpp"
#include "laconic/compress/compressor.hpp"
#include "laconic/compress/full.hpp"
#include "laconic/estimate/estimator.hpp"
#include "laconic/exchange/exchange.hpp"
#include "laconic/feedback/memory.hpp"
#include "laconic/objective/problem.hpp"
#include "laconic/optim/gradient_step.hpp"

namespace laconic {

/// The answer of a server: rank 0 alone hears the messages, and says its estimate of the gradient in a message of its
/// own, compressed, with what it remembers of what it said (a second instance of the same equation, with one rank).
template <class C, Scalar T = double, class B = host>
struct downlink {
    C compressor{};
    memory<T, B> feedback{};
    bool on = true;  ///< false: as no_downlink

    template <class Archive>
    void state(Archive& archive) {
        archive(feedback);
    }
    friend std::string to_string(downlink const& d) {
        return d.on ? to_string(d.compressor) + ", " + to_string(d.feedback) : "none";
    }
};

/// Everyone hears everyone: there is no server and no answer.
struct no_downlink {
    static constexpr bool on = false;
    friend std::string to_string(no_downlink) { return "none"; }
};

/// One method, as the parts and numbers of the one equation:
///
///     g_i    = scale x estimator's gradient    news_i = g_i - h_i + e_i   by the feedback
///     m_i    = C(news_i)                       C tuned by the level
///     d      = mean_i(h_i + m_i)               by the feedback, then through the downlink
///     x     <- step(x, d)
///
/// The mean is by the exchange, which may leave part of the sum to later rounds.
///
/// The named methods of method/ fill one in from the theorems; change any part of what they give as you like. All
/// ranks start with the same.
template <class C, class F = memory<>, class S = gradient_step, class L = fixed_level, class E = full_gradient,
          class D = no_downlink, class X = gather_all>
struct recursion {
    C compressor{};
    F feedback{};
    S step{};
    L level{};
    E estimator{};
    D downlink{};
    double scale = 1;
    X exchange{};

    template <class Archive>
    void state(Archive& archive) {
        archive(feedback, step, level, estimator, downlink);
    }
    /// The same with another part.
    template <class New>
    recursion<New, F, S, L, E, D, X> with_compressor(New c) const {
        return {std::move(c), feedback, step, level, estimator, downlink, scale, exchange};
    }
    template <class New>
    recursion<C, New, S, L, E, D, X> with_feedback(New f) const {
        return {compressor, std::move(f), step, level, estimator, downlink, scale, exchange};
    }
    template <class New>
    recursion<C, F, S, New, E, D, X> with_level(New l) const {
        return {compressor, feedback, step, std::move(l), estimator, downlink, scale, exchange};
    }
    template <class New>
    recursion<C, F, S, L, New, D, X> with_estimator(New e) const {
        return {compressor, feedback, step, level, std::move(e), downlink, scale, exchange};
    }
    template <class New>
    recursion<C, F, New, L, E, D, X> with_step(New s) const {
        return {compressor, feedback, std::move(s), level, estimator, downlink, scale, exchange};
    }
    template <class New>
    recursion<C, F, S, L, E, New, X> with_downlink(New d) const {
        return {compressor, feedback, step, level, estimator, std::move(d), scale, exchange};
    }
    template <class New>
    recursion<C, F, S, L, E, D, New> with_exchange(New x) const {
        return {compressor, feedback, step, level, estimator, downlink, scale, std::move(x)};
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
    { r.downlink.on } -> std::convertible_to<bool>;
    { r.scale } -> std::convertible_to<double>;
    r.exchange;
};

/// A method of method/: something that fills in a recursion from the constants of a problem.
template <class M, class T = double, class B = host>
concept Method = requires(M const& method, problem const& p) {
    { method.template compose<T, B>(p) } -> Recursion;
};

}  // namespace laconic
