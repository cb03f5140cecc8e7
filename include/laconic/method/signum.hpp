// SPDX-License-Identifier: Apache-2.0
#pragma once


#include "laconic/compress/vote.hpp"
#include "laconic/core/text.hpp"
#include "laconic/estimate/local_momentum.hpp"
#include "laconic/method/overrides.hpp"
#include "laconic/recursion.hpp"
#include "laconic/transport/served.hpp"

namespace laconic {

/// Signum with majority vote (Bernstein et al., ICML 2018): signsgd of a running mean of each rank's gradients,
/// v <- beta v + (1 - beta) g. No theorem gives its step in terms of the problem.
struct signum {
    double beta = 0.9;
    overrides given{};

    template <Scalar T, class B>
    recursion<vote, memory<T, B>, gradient_step, fixed_level, local_momentum<mini_batch, T, B>, served<vote, T, B>>
    compose(problem const& p) const {
        detail::refuse_memory(given, "signum");
        double const step = detail::own_step(given, p, "signum", "its step depends on how long it runs");
        return {vote{}, {}, gradient_step{step}, {}, local_momentum<mini_batch, T, B>(beta, given.batch)};
    }

    bool operator==(signum const&) const = default;
    static constexpr void description(auto&& describe) {
        describe("signum", "g a running mean, C the sign, alpha 0; a majority vote", "Bernstein et al., ICML 2018",
                 field("beta", &signum::beta).written().by_name(), detail::step_field, detail::batch_field);
    }
};

}  // namespace laconic
