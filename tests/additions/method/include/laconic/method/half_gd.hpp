// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "laconic/compress/identity.hpp"
#include "laconic/core/description.hpp"
#include "laconic/method/overrides.hpp"
#include "laconic/recursion.hpp"

namespace laconic {

/// Gradient descent with half of its usual step.
struct half_gd {
    overrides given{};

    template <Scalar T, class B>
    recursion<identity, memory<T, B>> compose(problem const& p) const {
        detail::theory const of(*this, p);
        double const step = of.step([&] { return 0.5 / of.smoothness(); });
        return {identity{}, {}, gradient_step{step}};
    }
    bool operator==(half_gd const&) const = default;
    static constexpr void description(auto&& describe) {
        describe("half_gd", "g full, C identity, alpha 0", "gradient descent", detail::step_field);
    }
};

}  // namespace laconic
