// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "laconic/core/text.hpp"
#include "laconic/estimate/block_saga.hpp"
#include "laconic/method/ibcd.hpp"

namespace laconic {

/// ISAGA with each worker's own data (Mishchenko, Hanzely, Richtarik, arXiv:1901.09437, algorithm 5): ibcd whose
/// gradients come from one row a round and a table of all rows' gradients, renewed on the blocks that are sent (see
/// block_saga, also for its memory). For convex L-smooth f_ij, L = max L_ij, m rows a worker, all grad f_i(x*) = 0, and
///     step = 1 / (L (tau + 4 / n)),        which is n / (5 L) for tau = 1 / n,
/// |x - x*|^2 + (3 / n^2) step^2 sum_ij |table_ij - grad f_ij(x*)|^2 falls in expectation by the factor 1 - tau min{
/// step mu, 1 / (3 m) } a round (theorem 5 there). Give steps up to 1 / (L (tau + 3 / n)), as in the paper's plots,
/// yourself.
struct isaga {
    portion tau = 0;
    std::size_t block = 256;
    overrides given{};

    template <Scalar T, class B>
    recursion<scaled_down<rand_block<>>, memory<T, B>, gradient_step, fixed_level, block_saga<T, B>> compose(
        problem const& p) const {
        detail::refuse_memory(given, "isaga");
        if (given.batch > 1)
            throw argument_error(
                detail::concat({"isaga: it draws one row a round; batch = ", given.batch, " cannot be given"}));
        auto const blocks = detail::blocks_sent(tau, block, p, "isaga");
        double const step = detail::step_or(given, p, "isaga", [&] {
            double const l =
                detail::known(p.largest_sample_smoothness, "max L_ij, the largest smoothness of a sample", "isaga");
            return 1 / (l * (detail::share_of(blocks, p, "isaga") + 4.0 / p.workers));
        });
        return {scaled_down{blocks}, {}, gradient_step{step}, {}, block_saga<T, B>(blocks)};
    }

    bool operator==(isaga const&) const = default;
    static constexpr void description(auto&& describe) {
        describe("isaga", "g by SAGA on the blocks that are sent, C random blocks as they are",
                 "Mishchenko, Hanzely, Richtarik, arXiv:1901.09437", field("tau", &isaga::tau).by_name(),
                 field("block", &isaga::block).between(1, 1e12).written().by_name(), detail::step_field);
    }
};

}  // namespace laconic
