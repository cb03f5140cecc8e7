// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "laconic/estimate/local_steps.hpp"
#include "laconic/optim/momentum.hpp"
#include "laconic/optim/prox.hpp"
#include "laconic/recursion.hpp"

namespace laconic {

/// The recursion for f + R: every gradient step is followed by R's proximal operator for the same size (with a heavy
/// ball: the size in the limit), which is scale x rate where the scale is inside the messages. It leads to the
/// minimiser of f + R where the recursion's estimate becomes exact (gd, diana, ef21, ...), and not where it does not.
/// Replaces a prox that it has.
template <class C, class F, class L, class E, class X, class P>
auto with_prox(recursion<C, F, gradient_step, L, E, X> const& r, P prox) {
    return r.with_step(proximal<gradient_step, P>{r.step, prox, r.scale * r.step.rate});
}
template <class C, class F, class Q, class L, class E, class X, class P>
auto with_prox(recursion<C, F, proximal<gradient_step, Q>, L, E, X> const& r, P prox) {
    return r.with_step(proximal<gradient_step, P>{r.step.step, prox, r.step.rate});
}

template <class C, class F, Scalar T, class B, class L, class E, class X, class P>
auto with_prox(recursion<C, F, momentum<T, B>, L, E, X> const& r, P prox) {
    return r.with_step(proximal<momentum<T, B>, P>{r.step, prox, r.scale * r.step.limit_rate()});
}
template <class C, class F, Scalar T, class B, class Q, class L, class E, class X, class P>
auto with_prox(recursion<C, F, proximal<momentum<T, B>, Q>, L, E, X> const& r, P prox) {
    return r.with_step(proximal<momentum<T, B>, P>{r.step.step, prox, r.step.rate});
}

// Local steps would each need R, too.
template <class C, class F, class L, Scalar T, class B, class X, class P>
auto with_prox(recursion<C, F, gradient_step, L, local_steps<T, B>, X> const& r, P prox) = delete;

}  // namespace laconic
