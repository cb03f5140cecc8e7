// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>

#include "laconic/comm/communicator.hpp"

namespace laconic {

/// How the work of a round is placed, as placement.py of TensorFlow's adanet does. With `replication` every rank does
/// all of it. With `round_robin` rank 0 builds the ensembles and the others train the candidates, one each, in turn
/// where they are too few; with `round_robin_drop` what no rank has is left out.
enum class placement_strategy : std::uint8_t { replication, round_robin, round_robin_drop };
constexpr std::array<std::string_view, 3> words_of(placement_strategy) {
    return {"replication", "round_robin", "round_robin_drop"};
}

/// The rank that trains candidate s of k >= 1, among `ranks` >= 1, and of several the first: the others would come to
/// the same numbers. Or no_rank.
constexpr int trainer_of(placement_strategy strategy, int ranks, int k, int s) {
    if (strategy == placement_strategy::replication || k == 1 || ranks == 1) return 0;
    if (strategy == placement_strategy::round_robin) return 1 + s % std::min(k, ranks - 1);
    return 1 + s < ranks ? 1 + s : no_rank;
}

}  // namespace laconic
