// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "laconic/compress/signs.hpp"
#include "laconic/method/overrides.hpp"
#include "laconic/recursion.hpp"
#include "laconic/transport/served.hpp"

namespace laconic {

namespace detail {

template <Scalar T, class B, class E>
recursion<vote, memory<T, B>, gradient_step, fixed_level, E, served<vote, T, B>> compose_vote(theory const& of,
                                                                                              E const& estimator) {
    return {vote{}, {}, gradient_step{of.own_step("its step depends on how long it runs")}, {}, estimator};
}

}  // namespace detail

/// signSGD with majority vote (Bernstein et al., ICML 2018): each rank sends the signs of its gradient, a bit a number,
/// and the server answers with the sign of their sum; 0 and ties count as positive. Every number of x moves by the
/// step. While the majority agrees with the sign of f's gradient, as with one worker and full gradients, K rounds obey
///     mean_k |grad f(x^k)|_1 <= (f(x^0) - f*) / (step K) + step d L / 2 ,
/// least for step = sqrt(2 (f(x^0) - f*) / (d L K)); the paper's, for batches of K rows, is 1 / sqrt(|L|_1 K). No step
/// suits every K, so give it yourself. With workers that differ, the majority may move x uphill: see
/// ef_sgd{scaled_sign{}}.
struct signsgd {
    overrides given{};

    template <Scalar T, class B>
    auto compose(problem const& p) const {
        return detail::compose_vote<T, B>({*this, p}, mini_batch(given.batch));
    }
    bool operator==(signsgd const&) const = default;
    static constexpr void description(auto&& describe) {
        describe("signsgd", "g full or mini-batch, C the sign, alpha 0; the server answers with a majority vote",
                 "Bernstein et al., ICML 2018", detail::step_field, detail::batch_field);
    }
};

/// Signum with majority vote (Bernstein et al., ICML 2018): signsgd of a running mean of each rank's gradients,
/// v <- beta v + (1 - beta) g. No theorem gives its step in terms of the problem.
struct signum {
    double beta = 0.9;
    overrides given{};

    template <Scalar T, class B>
    auto compose(problem const& p) const {
        return detail::compose_vote<T, B>({*this, p}, local_momentum<mini_batch, T, B>(beta, given.batch));
    }
    bool operator==(signum const&) const = default;
    static constexpr void description(auto&& describe) {
        describe("signum", "g a running mean, C the sign, alpha 0; a majority vote", "Bernstein et al., ICML 2018",
                 field("beta", &signum::beta).written().by_name(), detail::step_field, detail::batch_field);
    }
};

}  // namespace laconic
