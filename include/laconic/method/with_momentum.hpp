// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "laconic/estimate/local_steps.hpp"
#include "laconic/optim/momentum.hpp"
#include "laconic/optim/prox.hpp"
#include "laconic/recursion.hpp"

namespace laconic {

/// The recursion, over vectors of T on B, with a heavy ball in place of its gradient step, of the same size: v <- beta
/// v + estimate, x <- x - step v. A prox that it has is then for step / (1 - beta), the limit of the step along a
/// constant estimate: with the step alone it would lead to another point than the minimum of f + R. Throws
/// argument_error unless beta is in [0, 1).
template <Scalar T, class B, class C, class F, class L, class E, class X>
auto with_momentum(recursion<C, F, gradient_step, L, E, X> const& r, double beta) {
    return r.with_step(momentum<T, B>(r.step.rate, beta));
}
template <Scalar T, class B, class C, class F, class Q, class L, class E, class X>
auto with_momentum(recursion<C, F, proximal<gradient_step, Q>, L, E, X> const& r, double beta) {
    momentum<T, B> const ball(r.step.step.rate, beta);
    return r.with_step(proximal<momentum<T, B>, Q>{ball, r.step.prox, r.scale * ball.limit_rate()});
}

// The shift that corrects local steps does not take a heavy ball into account.
template <Scalar T, class B, class C, class F, class L, class X>
auto with_momentum(recursion<C, F, gradient_step, L, local_steps<T, B>, X> const& r, double beta) = delete;

}  // namespace laconic
