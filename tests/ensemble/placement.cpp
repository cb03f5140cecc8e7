// SPDX-License-Identifier: Apache-2.0
// T4.1: the rank that trains each candidate, first of those that the table of TensorFlow's adanet has for it.
#include "laconic/ensemble/placement.hpp"

#include "support/everything.hpp"

TEST_CASE("T4.1: which rank trains which candidate") {
    constexpr auto whole = placement_strategy::round_robin, drop = placement_strategy::round_robin_drop,
                   everywhere = placement_strategy::replication;
    struct trained_by {
        placement_strategy strategy;
        int ranks;
        std::vector<int> trainers;  // of each candidate
    };
    for (auto const& [strategy, ranks, trainers] :
         std::initializer_list<trained_by>{{whole, 1, {0, 0, 0}},
                                           {whole, 2, {1, 1, 1}},
                                           {whole, 3, {1, 2, 1}},
                                           {whole, 4, {1, 2, 3}},
                                           {whole, 5, {1, 2, 3}},
                                           {whole, 7, {1, 2, 3}},
                                           {whole, 8, {1, 2, 3}},
                                           {whole, 2, {1, 1, 1, 1, 1}},
                                           {whole, 3, {0}},
                                           {drop, 1, {0, 0}},
                                           {drop, 2, {1, no_rank, no_rank, no_rank, no_rank}},
                                           {drop, 3, {1, 2, no_rank}},
                                           {drop, 4, {1, 2, 3}},
                                           {drop, 6, {1, 2, 3}},
                                           {everywhere, 3, {0, 0}},
                                           {everywhere, 3, {0, 0, 0}}})
        for (std::size_t s = 0; s < trainers.size(); ++s)
            CHECK(trainer_of(strategy, ranks, int(trainers.size()), int(s)) == trainers[s]);
}
