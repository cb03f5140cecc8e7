// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "laconic/comm/communicator.hpp"

namespace laconic {

/// How the work of a round is placed. With `replication` every rank does all of it. With `round_robin` rank r has task
/// r mod (k + 1): task 0 builds the ensembles, task j trains candidate j - 1 of k, and where the last ranks are too few
/// they share out all candidates; with `round_robin_drop` they do not, and what no rank has is left out.
enum class placement_strategy : std::uint8_t { replication, round_robin, round_robin_drop };
constexpr std::array<std::string_view, 3> words_of(placement_strategy) {
    return {"replication", "round_robin", "round_robin_drop"};
}

/// Which rank does what among `ranks` >= 1, for k = `candidates` >= 1 subnetworks (placement.py of TensorFlow's
/// adanet).
struct placement {
    placement_strategy strategy = placement_strategy::round_robin;
    int ranks = 1, candidates = 1;

    /// Whether this rank builds ensembles.
    bool builds_ensembles(int rank) const { return one_task() || task(rank) == 0; }
    /// Whether this rank trains any candidate.
    bool trains(int rank) const { return one_task() || ranks == 1 || !builds_ensembles(rank); }
    /// Whether this rank builds candidate s, to train it or, with task 0, to put it into ensembles.
    bool builds(int rank, int s) const {
        if (one_task() || task(rank) == 0) return true;
        if (strategy == placement_strategy::round_robin_drop) return task(rank) - 1 == s;
        int const group = candidates + 1, left = ranks % group;
        bool const in_last_group = left != 0 && rank >= ranks - left;
        return task(rank) - 1 == s % (in_last_group ? left - 1 : candidates);
    }
    /// The first rank that trains candidate s, or no_rank: of those that do, who needs to. The others would come to the
    /// same numbers.
    int trainer(int s) const {
        for (int r = 0; r < ranks; ++r)
            if (trains(r) && builds(r, s)) return r;
        return no_rank;
    }

  private:
    bool one_task() const { return strategy == placement_strategy::replication || candidates == 1; }
    int task(int rank) const { return rank % (candidates + 1); }
};

}  // namespace laconic
