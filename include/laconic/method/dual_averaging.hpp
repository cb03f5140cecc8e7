// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "laconic/method/overrides.hpp"
#include "laconic/recursion.hpp"

namespace laconic {

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
