// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>

#include "laconic/compress/rand_block.hpp"
#include "laconic/compress/scaled_down.hpp"
#include "laconic/core/text.hpp"
#include "laconic/estimate/mini_batch.hpp"
#include "laconic/method/overrides.hpp"
#include "laconic/recursion.hpp"

namespace laconic {

namespace detail {

// The blocks that a worker sends: the given portion of them, or one in n where none is given. Their share of all, and
// the meaning of one in n, need the dimension.
inline std::size_t blocks_of(problem const& p, std::size_t block, char const* method) {
    if (block == 0) throw argument_error(concat({std::string(method), ": block = 0 is not at least 1"}));
    check_fields(rand_block<>{1, block});
    if (p.dimension == 0)
        throw theory_error(concat({std::string(method), ": it needs the dimension, which is not known"}));
    return blocks_in(p.dimension, block);
}
inline rand_block<> blocks_sent(portion tau, std::size_t block, problem const& p, char const* method) {
    if (tau.value == 0) {
        auto const all = static_cast<double>(blocks_of(p, block, method));
        tau = std::max(1.0, std::round(all / p.workers));
    }
    rand_block<> const chosen{tau, block};
    if (p.dimension == 0) return chosen;
    try {
        chosen.check(p.dimension);
    } catch (argument_error const& e) {
        throw argument_error(concat({std::string(method), ": tau = ", to_string(tau), ": ", e.what()}));
    }
    return chosen;
}
inline double share_of(rand_block<> const& chosen, problem const& p, char const* method) {
    auto const all = blocks_of(p, chosen.block, method);
    return static_cast<double>(chosen.k.of(all)) / static_cast<double>(all);
}

// The step of ibcd and ibgd.
template <class Share>
double masked_step(Share share, overrides const& given, problem const& p, char const* method) {
    return step_or(given, p, method, [&] {
        refuse_batch(given, method);
        double const tau = share();
        return 1 / (tau * known(p.smoothness, "the smoothness L", method) +
                    (1 - tau) * known(p.largest_smoothness, "max L_i", method) / p.workers);
    });
}

}  // namespace detail

/// Independent block coordinate descent (Mishchenko, Hanzely, Richtarik, arXiv:1901.09437, algorithm 1): each of n
/// workers sends a random share tau of the blocks of its gradient, unscaled; tau is a fraction of the blocks or their
/// count, 0 means one block in n. Where all grad f_i(x*) = 0 and f_i are convex, any step <= 1 / (tau L + (1 - tau) max
/// L_i / n) gives
///     E|x^k - x*|^2 <= (1 - step tau mu)^k |x^0 - x*|^2 ,
/// and the longest is the default (by co-coercivity; an equality for f_i = |x|^2 / 2). The paper's step n / (2 max L_i
/// (tau n + 2 (1 - tau))), theorem 1, is about a third of it for tau = 1 / n. Elsewhere it stalls: see isega.
struct ibcd {
    portion tau = 0;
    std::size_t block = 256;
    overrides given{};

    template <Scalar T, class B>
    recursion<scaled_down<rand_block<>>, memory<T, B>, gradient_step, fixed_level, mini_batch> compose(
        problem const& p) const {
        detail::refuse_memory(given, "ibcd");
        auto const blocks = detail::blocks_sent(tau, block, p, "ibcd");
        double const step = detail::masked_step([&] { return detail::share_of(blocks, p, "ibcd"); }, given, p, "ibcd");
        return {scaled_down{blocks}, {}, gradient_step{step}, {}, given.batch};
    }

    bool operator==(ibcd const&) const = default;
    static constexpr void description(auto&& describe) {
        describe("ibcd", "g full, C random blocks as they are, alpha 0",
                 "Mishchenko, Hanzely, Richtarik, arXiv:1901.09437", field("tau", &ibcd::tau).by_name(),
                 field("block", &ibcd::block).between(1, 1e12).written().by_name(), detail::step_field,
                 detail::batch_field);
    }
};

}  // namespace laconic
