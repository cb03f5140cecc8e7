// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "laconic/compress/identity.hpp"
#include "laconic/method/overrides.hpp"
#include "laconic/recursion.hpp"

namespace laconic {

/// Distributed gradient descent, with every gradient in full. The step is 1/L, with which f - f* falls at least by the
/// factor 1 - mu/L a round (Nesterov, Lectures on convex optimization, theorem 2.1.15). For batches see sgd.
struct gd {
    overrides given{};

    template <Scalar T, class B>
    recursion<identity, memory<T, B>> compose(problem const& p) const {
        detail::theory const of(*this, p);
        double const step = of.step([&] { return 1 / of.smoothness(); });
        return {identity{}, {}, gradient_step{step}};
    }

    bool operator==(gd const&) const = default;
    static constexpr void description(auto&& describe) {
        describe("gd", "g full, C identity, alpha 0", "gradient descent", detail::step_field);
    }
};

}  // namespace laconic
