// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "laconic/core/key.hpp"

namespace laconic {

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
