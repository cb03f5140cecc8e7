// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <type_traits>

#include "laconic/estimate/estimator.hpp"
#include "laconic/method/overrides.hpp"
#include "laconic/recursion.hpp"

/// Recursions, and methods, with another step: of the same size, or of another optimizer.
namespace laconic {

/// The recursion, over vectors of T on B, with a heavy ball in place of its gradient step, of the same size: v <- beta
/// v + estimate, x <- x - step v. A prox that it has is then for step / (1 - beta), the limit of the step along a
/// constant estimate. Does not compile where the estimator's type says that it corrects its local steps or points by
/// the mean. Throws argument_error where only its value says so, and unless beta is in [0, 1).
template <Scalar T, class B, class C, class F, class L, class E, class X>
requires(!requires {
    requires E::corrects_local_steps();
}) auto with_momentum(recursion<C, F, gradient_step, L, E, X> const& r, double beta) {
    if (detail::corrects_local_steps(r.estimator))
        throw argument_error("with_momentum: a method that corrects its local steps has no form with momentum");
    return r.with_step(momentum<T, B>(r.step.rate, beta));
}
template <Scalar T, class B, class C, class F, class Q, class L, class E, class X>
auto with_momentum(recursion<C, F, proximal<gradient_step, Q>, L, E, X> const& r, double beta) {
    momentum<T, B> const ball(r.step.step.rate, beta);
    return r.with_step(proximal<momentum<T, B>, Q>{ball, r.step.prox, r.scale * ball.limit_rate()});
}

/// The recursion for f + R: every gradient step is followed by R's proximal operator for the same size (with a heavy
/// ball: the size in the limit), which is scale x rate where the scale is inside the messages. It leads to the
/// minimiser of f + R where the recursion's estimate becomes exact (gd, diana, ef21, ...), and not where it does not.
/// Replaces a prox that it has. Does not compile for local steps, as each would need R.
template <class C, class F, class L, class E, class X, class P>
requires(!detail::HasLocalSteps<E>) auto with_prox(recursion<C, F, gradient_step, L, E, X> const& r, P prox) {
    return r.with_step(proximal<gradient_step, P>{r.step, prox, r.scale * r.step.rate});
}
template <class C, class F, class S, class Q, class L, class E, class X, class P>
auto with_prox(recursion<C, F, proximal<S, Q>, L, E, X> const& r, P prox) {
    return r.with_step(proximal<S, P>{r.step.step, prox, r.step.rate});
}
template <class C, class F, Scalar T, class B, class L, class E, class X, class P>
requires(!detail::HasLocalSteps<E>) auto with_prox(recursion<C, F, momentum<T, B>, L, E, X> const& r, P prox) {
    return r.with_step(proximal<momentum<T, B>, P>{r.step, prox, r.scale * r.step.limit_rate()});
}

/// A method with momentum, v <- beta v + its estimate, x <- x - step v (Polyak 1964; DIANA's momentum, Mishchenko et
/// al., arXiv:1901.09269, algorithm 1): for every method that moves along its estimate by a step of one length. The
/// step is the method's own, whose theorem does not cover momentum: this is a heuristic, and beta in [0, 1) is yours to
/// choose.
template <class M>
struct heavy_ball {
    M method;
    double beta = 0.9;

    template <Scalar T, class B>
    auto compose(problem const& p) const {
        if constexpr (requires { method.compose(p, elastic_net{}, beta); })  // known at run time only
            return method.compose(p, elastic_net{}, beta);
        else
            return with_momentum<T, B>(method.template compose<T, B>(p), beta);
    }
    /// The recursion for f + R, where the method takes R's proximal operator.
    auto compose(problem const& p, auto const& prox) const requires requires(M const& m) { m.compose(p, prox, 0.0); }
    { return method.compose(p, prox, beta); }

    detail::when_absent absence() const { return detail::absence_of(method); }

    bool operator==(heavy_ball const&) const = default;
    static constexpr void description(auto&& describe) {
        describe(
            "heavy_ball", "any of these that moves by a step of one length, with momentum",
            "Polyak 1964; Mishchenko, Gorbunov, Takac, Richtarik, arXiv:1901.09269; SlowMo: Wang et al., ICLR 2020",
            field("method", &heavy_ball::method).needed(), field("beta", &heavy_ball::beta).written().by_name());
    }
};
template <class M>
heavy_ball(M, double = 0.9) -> heavy_ball<M>;

/// A method with the step of another optimizer, such as adam or muon, along its estimate; no theorem covers it, and the
/// rate is yours to choose. Around local_sgd, whose estimate is the mean move of the ranks, it is FedOpt (Reddi et al.,
/// ICLR 2021). The estimate is scaled as the method has it: where the step is inside the messages, as in ef_sgd, it is
/// that times the gradient, so give it step=1. Throws argument_error around a method that corrects its local steps, as
/// proxskip and scaffold do, and where a proximal operator is to follow.
///
///     descend(with_step{ef21{top_k{0.05}}, adam<>(0.01)}, objective, x, comm, {.rounds = 100});
template <class M, class S>
struct with_step {
    M method;
    S step;

    template <Scalar T, class B>
    auto compose(problem const& p) const {
        return stepping(method.template compose<T, B>(p));
    }
    auto compose(problem const& p, auto const& prox) const requires requires(M const& m) { m.compose(p, prox); }
    {
        if (prox != std::remove_cvref_t<decltype(prox)>{})
            throw argument_error({"with_step: its step has no form with a proximal operator: ", to_string(step)});
        return stepping(method.compose(p, prox));
    }

    bool operator==(with_step const&) const = default;
    static constexpr void description(auto&& describe) {
        describe("with_step", "any of these that corrects no local steps; x by the step of another optimizer",
                 "FedAdam: Reddi et al., ICLR 2021", field("method", &with_step::method).needed(),
                 field("step", &with_step::step).needed());
    }

  private:
    auto stepping(auto const& r) const {
        if (detail::corrects_local_steps(r.estimator))
            throw argument_error("with_step: a method that corrects its local steps has no other step");
        return r.with_step(step);
    }
};
template <class M, class S>
with_step(M, S) -> with_step<M, S>;

}  // namespace laconic
