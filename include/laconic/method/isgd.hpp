// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>

#include "laconic/method/ibcd.hpp"
#include "laconic/optim/decreasing_step.hpp"

namespace laconic {

/// ISGD (Mishchenko, Hanzely, Richtarik, arXiv:1901.09437, algorithm 6): ibcd with decreasing steps 1 / (a + c t),
/// which also reaches the optimum where the workers differ or take batches of b rows. For convex f_i, with the paper's
/// c = mu tau / 4 and a = 2 (tau + 2 (1 - tau) / n) max L_i, for batches at least half of that + 2 max L_ij / (n b),
///     E|x^t - x*|^2 <= max{ a |x^0 - x*|^2, 4 N / (3 n mu) } / (a + c t),   N = 2 sigma^2 / b + 2 (1 - tau) zeta^2 ,
/// zeta^2 = mean_i |grad f_i(x*)|^2 and sigma^2 the mean variance of a row's gradient at x*, 0 for all rows. This is
/// derived: theorem 6 there bounds f at a weighted mean of the iterates. Tighter is what it comes from,
///     E|x^(t+1) - x*|^2 <= (1 - s tau mu) E|x^t - x*|^2 + s^2 tau N / n,   s = 1 / (a + c t).
/// A step that you give is constant.
struct isgd {
    portion tau = 0;
    std::size_t block = 256;
    overrides given{};

    template <Scalar T, class B>
    recursion<scaled_down<rand_block<>>, memory<T, B>, decreasing_step, fixed_level, mini_batch> compose(
        problem const& p) const {
        detail::refuse_memory(given, "isgd");
        auto const blocks = detail::blocks_sent(tau, block, p, "isgd");
        double c = 0;
        double const step = detail::step_or(given, p, "isgd", [&] {
            double const share = detail::share_of(blocks, p, "isgd");
            double const l = detail::known(p.largest_smoothness, "max L_i", "isgd");
            c = detail::known(p.strong_convexity, "mu, the strong convexity of f", "isgd") * share / 4;
            double const a = 2 * (share + 2 * (1 - share) / p.workers) * l;
            return 1 / std::max(a, a / 2 + 2 * detail::noise_of_batch(given, p, "isgd"));
        });
        return {scaled_down{blocks}, {}, decreasing_step(1 / step, c), {}, given.batch};
    }

    bool operator==(isgd const&) const = default;
    static constexpr void description(auto&& describe) {
        describe("isgd", "ibcd with decreasing steps", "Mishchenko, Hanzely, Richtarik, arXiv:1901.09437",
                 field("tau", &isgd::tau).by_name(), field("block", &isgd::block).between(1, 1e12).written().by_name(),
                 detail::step_field, detail::batch_field);
    }
};

}  // namespace laconic
