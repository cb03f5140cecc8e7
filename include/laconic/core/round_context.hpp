// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "laconic/core/key.hpp"

namespace laconic {

namespace detail {

/// The key of a rank's message where the ranks' roundings are correlated, for who reads it.
constexpr key correlated(key own, key shared) { return {own.bits, shared.child(0).bits}; }
/// The same for the rank that makes it (correlated quantization; Suresh, Sun, Ro, Yu, ICML 2022): for each number all
/// ranks draw one threshold U from `shared`, and rank i of n rounds with U + p_i / n modulo 1, to 2^-16, where p orders
/// the ranks at random, once for each `shared`. Each rank's thresholds are uniform, and those of all ranks are spread
/// evenly: where all round the same x, between levels 0 and 1, the variance of their mean is f (1 - f) / n^2, f being
/// the fraction of n x, in place of x (1 - x) / n. The paper orders the ranks anew for each number, and draws each
/// rank's threshold within an n-th of [0, 1) by itself: the same variance there. Cost: `ranks` words.
constexpr key correlated(key own, key shared, int rank, int ranks) {
    auto same = correlated(own, shared);
    auto const lots = shared.child(1);
    auto const lot = [&](int r) { return lots.long_word(static_cast<std::uint64_t>(r)); };
    std::uint64_t place = 0;  // p_i: how many ranks have a smaller lot
    for (int r = 0; r < ranks; ++r) place += lot(r) < lot(rank) || (lot(r) == lot(rank) && r < rank);
    same.turn = static_cast<std::uint16_t>((place << 16) / static_cast<std::uint64_t>(ranks));
    return same;
}

}  // namespace detail

/// One round as one rank sees it: its number, counted from 0, and the keys from which its randomness comes.
struct round_context {
    std::uint64_t round = 0;
    key own;                             ///< of this rank's message; every rank can derive every other rank's
    key gradient;                        ///< of this rank's gradient estimator, such as the rows of its data
    key shared;                          ///< the same on all ranks, for draws that all ranks share
    key answer;                          ///< of the message that a server sends to all
    std::optional<std::uint32_t> tag{};  ///< what stands behind each gathered message (transport/rank_messages.hpp)
    key of_all{};                        ///< of which the others are children
    int ranks = 1;

    constexpr round_context with_tag(std::uint32_t bits) const {
        auto same = *this;
        same.tag = bits;
        return same;
    }
    /// The key `own` of that rank's context, without the draws of the others.
    static constexpr key own_of(key seed, std::uint64_t round, int rank) {
        return seed.child(round).child(static_cast<std::uint64_t>(rank));
    }
    /// The key `own` of that rank's context, in this round.
    constexpr key own_of(int rank) const { return of_all.child(static_cast<std::uint64_t>(rank)); }
    /// The context of a rank among `ranks`, in a round of the run with this seed.
    static constexpr round_context of(key seed, std::uint64_t round, int rank, int ranks) {
        auto const here = seed.child(round);
        auto const r = static_cast<std::uint64_t>(rank), n = static_cast<std::uint64_t>(ranks);
        return {round, here.child(r), here.child(n + r), here.child(2 * n), here.child(2 * n + 1), {}, here, ranks};
    }
};

}  // namespace laconic
