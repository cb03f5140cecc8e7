// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "laconic/core/text.hpp"
#include "laconic/method/ibcd.hpp"
#include "laconic/optim/accelerated_step.hpp"

namespace laconic {

/// IASGD (Mishchenko, Hanzely, Richtarik, arXiv:1901.09437, algorithm 7): accelerated steps along a random share tau of
/// the blocks of each worker's gradient, scaled by 1 / tau. It needs strong growth, with a rho >= 1 that you give:
/// mean_i E|g_i(x)|^2 <= rho |grad f(x)|^2 for all x, so that all gradients vanish at x*. The mean of the messages then
/// has growth = 1 + (rho / tau - 1) / n, and with step = 1 / (growth L) and mu > 0
///     f(y) - f* + (mu / 2) |v - x*|^2 falls in expectation by the factor 1 - sqrt(mu / L) / growth a round
/// (Vaswani, Bach, Schmidt, AISTATS 2019; see accelerated_step): for tau >= rho / n that is Nesterov's rate up to a
/// constant.
struct iasgd {
    portion tau = 0;
    std::size_t block = 256;
    double rho = 0;
    overrides given{};

    template <Scalar T, class B>
    recursion<rand_block<>, memory<T, B>, accelerated_step<T, B>, fixed_level, mini_batch> compose(
        problem const& p) const {
        detail::refuse_memory(given, "iasgd");
        if (!(rho >= 1))
            throw theory_error(detail::concat(
                {"iasgd: it needs the strong growth rho of the workers' gradients, at least 1; rho = ", rho}));
        double const mu = detail::known(p.strong_convexity, "mu, the strong convexity of f", "iasgd");
        auto const blocks = detail::blocks_sent(tau, block, p, "iasgd");
        double const growth = 1 + (rho / detail::share_of(blocks, p, "iasgd") - 1) / p.workers;
        double const step = detail::step_or(
            given, p, "iasgd", [&] { return 1 / (growth * detail::known(p.smoothness, "the smoothness L", "iasgd")); });
        return {blocks, {}, accelerated_step<T, B>(step, mu, growth), {}, given.batch};
    }

    bool operator==(iasgd const&) const = default;
    static constexpr void description(auto&& describe) {
        describe("iasgd", "ibcd with accelerated steps, under strong growth rho",
                 "Mishchenko, Hanzely, Richtarik, arXiv:1901.09437; Vaswani, Bach, Schmidt, AISTATS 2019",
                 field("tau", &iasgd::tau).by_name(),
                 field("block", &iasgd::block).between(1, 1e12).written().by_name(),
                 field("rho", &iasgd::rho).by_name(), detail::step_field, detail::batch_field);
    }
};

}  // namespace laconic
