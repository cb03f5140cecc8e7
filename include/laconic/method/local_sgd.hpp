// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "laconic/estimate/local_rounds.hpp"
#include "laconic/method/overrides.hpp"
#include "laconic/optim/adam.hpp"
#include "laconic/recursion.hpp"

/// Methods that communicate once in several local steps: g_i = x - y_i, where y_i is the rank's model after them; in
/// proxskip this difference is divided by the step size.
namespace laconic {

namespace detail {

template <Scalar T, class B>
recursion<identity, memory<T, B>, gradient_step, fixed_level, local_rounds<gradient_step, T, B>> compose_local(
    local_round how, double step) {
    return {identity{}, {}, gradient_step{1}, {}, local_rounds<gradient_step, T, B>(how, gradient_step{step})};
}

}  // namespace detail

/// Local SGD, or FedAvg of ranks with equal weights (McMahan et al., AISTATS 2017; Stich, ICLR 2019): x becomes the
/// mean of the ranks' models after H gradient steps each. With pull > 0 it is FedProx (Li et al., MLSys 2020), whose
/// local gradients pull towards x; as heavy_ball{local_sgd{...}, beta} it is SlowMo with alpha = 1 (Wang, Tantia,
/// Ballas, Rabbat, ICLR 2020). If ranks differ, it does not reach the optimum unless H = 1 (local_rounds has the
/// fixed point). No theorem here gives the step.
struct local_sgd {
    std::uint64_t local = 5;  ///< H
    double pull = 0;          ///< mu of FedProx
    overrides given{};

    template <Scalar T, class B>
    auto compose(problem const& p) const {
        double const step = detail::theory(*this, p).own_step("no theorem here gives its local step");
        return detail::compose_local<T, B>({.steps = local, .pull = pull, .batch = given.batch}, step);
    }
    static constexpr detail::when_absent absence() { return detail::when_absent::rescaled; }

    bool operator==(local_sgd const&) const = default;
    static constexpr void description(auto&& describe) {
        describe("local_sgd", "g = x less the local model after H gradient steps, C identity, alpha 0",
                 "FedAvg: McMahan et al., AISTATS 2017; Stich, ICLR 2019; FedProx: Li et al., MLSys 2020",
                 field("local", &local_sgd::local).between(1, 1000000).by_name(),
                 field("pull", &local_sgd::pull).between(0, 1e300).by_name(), detail::step_field, detail::batch_field);
    }
};

/// SCAFFOLD with all ranks in each round, by its option II and a global step of 1 (Karimireddy et al., ICML 2020): H
/// local steps a round, along gradients that are corrected, so that the fixed point is the optimum even if
/// ranks differ, as proxskip's is with a random H. No theorem here gives the step: that of the paper is at most 1 / (81
/// H L), and steps of the order of 1 / (H L) usually work.
struct scaffold {
    std::uint64_t local = 5;  ///< H
    overrides given{};

    template <Scalar T, class B>
    auto compose(problem const& p) const {
        double const step = detail::theory(*this, p).own_step("no theorem here gives its local step");
        auto const participants = static_cast<std::size_t>(p.participants);
        return detail::compose_local<T, B>(
            {.steps = local, .corrected_for = step, .batch = given.batch, .participants = participants}, step);
    }
    static constexpr detail::when_absent absence() { return detail::when_absent::rescaled; }

    bool operator==(scaffold const&) const = default;
    static constexpr void description(auto&& describe) {
        describe("scaffold", "g = x less the local model after H corrected gradient steps, C identity, alpha 0",
                 "Karimireddy et al., ICML 2020", field("local", &scaffold::local).between(1, 1000000).by_name(),
                 detail::step_field, detail::batch_field);
    }
};

/// DiLoCo (Douillard et al., 2023): H local steps of AdamW, whose state stays with its rank, and Nesterov's momentum,
/// in PyTorch's form, on the mean of x - y_i. Its messages may be compressed; with a decay in (0, 1] what a message
/// leaves out is added, times decay, to the next one (SparseLoCo, Sarfi et al., arXiv:2508.15706, has top-k, decay
/// 0.95, rate 1 and momentum 0). `step` is AdamW's learning rate. No theorem covers it.
template <class C = identity>
struct diloco {
    static_assert(detail::require_compressor<C>());

    C compressor{};
    std::uint64_t local = 30;    ///< H
    double rate = 0.7;           ///< of the outer step
    double beta = 0.9;           ///< its momentum; 0: none
    double decay = 0;            ///< of the residual
    double weight_decay = 0.01;  ///< AdamW's
    overrides given{};

    template <Scalar T, class B>
    recursion<C, memory<T, B>, momentum<T, B>, fixed_level, local_rounds<adam<T, B>, T, B>> compose(
        problem const& p) const {
        double const step = detail::theory(*this, p).own_step("no theorem gives its local step");
        return {compressor,
                {0, decay},
                momentum<T, B>({.rate = rate, .beta = beta, .nesterov = beta > 0}),
                {},
                local_rounds<adam<T, B>, T, B>(
                    {.steps = local, .batch = given.batch},
                    adam<T, B>({.rate = step, .weight_decay = weight_decay, .decoupled = true}))};
    }
    bool operator==(diloco const&) const = default;
    static constexpr void description(auto&& describe) {
        describe("diloco",
                 "g = x less the local model after H steps of AdamW, alpha 0, Nesterov's momentum on the mean",
                 "Douillard et al., arXiv:2311.08105; SparseLoCo: Sarfi et al., arXiv:2508.15706",
                 detail::compressor_field, field("local", &diloco::local).between(1, 1000000).by_name(),
                 field("rate", &diloco::rate).between(0, 1e300).by_name(),
                 field("beta", &diloco::beta).between(0, 1).by_name(),
                 field("decay", &diloco::decay).between(0, 1).by_name(),
                 field("weight_decay", &diloco::weight_decay).between(0, 1e300).by_name(), detail::step_field,
                 detail::batch_field);
    }
};
template <class C>
diloco(C) -> diloco<C>;

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
