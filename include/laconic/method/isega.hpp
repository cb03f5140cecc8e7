// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>

#include "laconic/method/diana.hpp"
#include "laconic/method/ibcd.hpp"

namespace laconic {

/// ISEGA (Mishchenko, Hanzely, Richtarik, arXiv:1901.09437, algorithm 2): each worker sends a random share tau of the
/// blocks, as in ibcd, of the difference of its gradient to its shift; it reaches the optimum of any convex f_i, with a
/// prox too. It is diana with rand_block and memory rate tau = 1 / (1 + omega), bit for bit. With
///     step = min{ 1 / (4 L (1 + 1 / (n tau))), 1 / (mu / tau + 4 L / (n tau)) },    L = max L_i, mu of f,
/// E|x^k - x*|^2 <= (1 - step mu)^k (|x^0 - x*|^2 + step / (2 L tau n) sum |h_i - grad f_i(x*)|^2) (theorem 3 there).
/// The default is the longer of this and diana's step, usually the latter.
template <class P = no_prox>
struct isega {
    portion tau = 0;
    std::size_t block = 256;
    overrides given{};
    P prox{};

    template <Scalar T, class B>
    auto compose(problem const& p) const {
        detail::refuse_memory(given, "isega");
        auto const blocks = detail::blocks_sent(tau, block, p, "isega");
        double const share = detail::share_of(blocks, p, "isega"), omega = 1 / share - 1;
        auto numbers = given;
        numbers.memory = share;
        numbers.step = detail::step_or(given, p, "isega", [&] {
            double const its = detail::diana_step(omega, share, given, p, "isega");
            if (given.batch > 0) return its;
            double const l = p.largest_smoothness, n = p.workers, mu = p.strong_convexity;
            return std::max(its, std::min(1 / (4 * l * (1 + 1 / (n * share))), 1 / (mu / share + 4 * l / (n * share))));
        });
        return diana{blocks, numbers, prox}.template compose<T, B>(p);
    }

    bool operator==(isega const&) const = default;
    static constexpr void description(auto&& describe) {
        describe("isega", "g full or mini-batch, C random blocks, alpha tau",
                 "Mishchenko, Hanzely, Richtarik, arXiv:1901.09437", field("tau", &isega::tau).by_name(),
                 field("block", &isega::block).between(1, 1e12).written().by_name(), detail::step_field,
                 detail::batch_field);
    }
};
isega()->isega<>;
template <class N>
isega(N, std::size_t = 256, overrides = {}) -> isega<>;
template <class N, class P>
isega(N, std::size_t, overrides, P) -> isega<P>;

}  // namespace laconic
