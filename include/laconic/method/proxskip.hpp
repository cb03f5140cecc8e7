// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>

#include "laconic/method/overrides.hpp"
#include "laconic/recursion.hpp"

namespace laconic {

/// ProxSkip for consensus, or Scaffnew (Mishchenko, Malinovsky, Stich, Richtarik, ICML 2022): local gradient steps of
/// each rank, after each of which all ranks communicate with probability p; a round is one communication and the steps
/// before it. Shifts h_i converge to the gradients at the optimum, so that local steps do not drift to the local
/// optima. With step = 1 / L, L = max L_i, mu = min mu_i and p = sqrt(step mu) (p = 0 means that),
///     sum_i |x_i - x*|^2 + (step / p)^2 sum_i |h_i - grad f_i(x*)|^2
/// falls in expectation by the factor 1 - min(step mu, p^2) a local step: sqrt(L / mu) rounds do what L / mu rounds of
/// gradient descent do. With a batch it approaches the optimum up to a distance. A p below 1e-6 is refused.
struct proxskip {
    double p = 0;
    overrides given{};

    template <Scalar T, class B>
    recursion<identity, memory<T, B>, gradient_step, fixed_level, local_steps<T, B>> compose(problem const& its) const {
        detail::theory const of(*this, its);
        double const step = of.step([&] { return 1 / of.largest_smoothness(); });
        if (p == 0 && !(its.least_strong_convexity > 0))
            throw of.lacks({"its theorem needs f_i that are strongly convex, each of them; give p"});
        double const chance = p > 0 ? p : std::min(1.0, std::sqrt(step * its.least_strong_convexity));
        return {identity{}, {}, gradient_step{step}, {}, local_steps<T, B>(chance, step, given.batch)};
    }

    bool operator==(proxskip const&) const = default;
    static constexpr void description(auto&& describe) {
        describe("proxskip", "g the result of local steps, C identity, alpha 0",
                 "Mishchenko, Malinovsky, Stich, Richtarik, ICML 2022",
                 field("p", &proxskip::p).between(0, 1).by_name(), detail::step_field, detail::batch_field);
    }
};

}  // namespace laconic
