// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstddef>

#include "laconic/method/lag_wk.hpp"

namespace laconic {

/// LAG-PS, lazily aggregated gradients by the server's rule (Chen, Giannakis, Sun, Yin, NeurIPS 2018): rank i sends
/// where
///     L_i^2 |x - the x at which it sent last|^2 > (xi / step^2) sum of the last D squared moves of x,
/// which follows from the iterates, without the gradient. It implies lag_wk's rule, so that lag_wk's theorem and step
/// hold. L_i is the problem's own_smoothness, in which the ranks may differ; it is needed even where the step is given.
/// A larger number is valid too and costs messages: with max L_i on all ranks they all send in the same rounds. Here
/// every rank receives all messages and computes its gradient in every round: the rule saves messages only.
struct lag_ps {
    double xi = 0.05;
    std::size_t D = 10;
    overrides given{};

    template <Scalar T, class B>
    auto compose(problem const& p) const {
        if (!(p.own_smoothness > 0 && std::isfinite(p.own_smoothness)))
            throw theory_error(
                "lag_ps: its rule needs L_i, the smoothness of this rank's own f_i, which is not known; give it as "
                "own_smoothness in the problem, or take lag_wk, which needs none");
        return detail::compose_lag<T, B>(xi, D, p.own_smoothness, given, p, "lag_ps");
    }

    bool operator==(lag_ps const&) const = default;
    static constexpr void description(auto&& describe) {
        describe("lag_ps", "g full, C all or nothing by how far x moved, alpha 1",
                 "Chen, Giannakis, Sun, Yin, NeurIPS 2018", field("xi", &lag_ps::xi).written().by_name(),
                 field("D", &lag_ps::D).between(1, 1e6).written().by_name(), detail::step_field);
    }
};

}  // namespace laconic
