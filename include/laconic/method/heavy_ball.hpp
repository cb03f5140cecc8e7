// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "laconic/core/text.hpp"
#include "laconic/method/with_step.hpp"

namespace laconic {

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
    template <class P>
    auto compose(problem const& p, P const& prox) const requires requires(M const& m) {
        m.compose(p, prox, 0.0);
    }
    { return method.compose(p, prox, beta); }

    bool operator==(heavy_ball const&) const = default;
    static constexpr void description(auto&& describe) {
        describe("heavy_ball", "any of these that moves by a step of one length, with momentum",
                 "Polyak 1964; Mishchenko, Gorbunov, Takac, Richtarik, arXiv:1901.09269",
                 field("method", &heavy_ball::method).needed(), field("beta", &heavy_ball::beta).written().by_name());
    }
};
template <class M>
heavy_ball(M, double = 0.9) -> heavy_ball<M>;

}  // namespace laconic
