// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstddef>
#include <string>

#include "laconic/method/lag_wk.hpp"

namespace laconic {

/// LAG-PS, lazily aggregated gradients by the server's rule (Chen, Giannakis, Sun, Yin, NeurIPS 2018): rank i speaks
/// where
///     L_i^2 |x - where it spoke last|^2 > (xi / step^2) sum of the last D squared moves of x,
/// which follows from the iterates: nobody needs the gradient to know. It implies lag_wk's rule, so lag_wk's theorem
/// and step hold. Each rank gives its own L_i as `smoothness`, on which ranks need not agree; 0 stands for max L_i,
/// with which all ranks speak in the same rounds. Here every rank hears everyone and computes its gradient in every
/// round: what the rule saves is what is said.
struct lag_ps {
    double xi = 0.05;
    std::size_t D = 10;
    rates given{};
    double smoothness = 0;

    template <Scalar T, class B>
    auto compose(problem const& p) const {
        if (!(smoothness >= 0 && std::isfinite(smoothness)))
            throw argument_error("lag_ps: the smoothness " + shortest(smoothness) + " is not a number of at least 0");
        double const l = smoothness > 0 ? smoothness : detail::known(p.largest_smoothness, "max L_i", "lag_ps");
        return detail::compose_lag<T, B>(xi, D, l, given, p, "lag_ps");
    }

    bool operator==(lag_ps const&) const = default;
    friend std::string to_string(lag_ps const& m) { return detail::called_lag("lag_ps", m.xi, m.D, m.given); }
};

static_assert(Method<lag_ps>);

}  // namespace laconic
