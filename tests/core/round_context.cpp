// SPDX-License-Identifier: Apache-2.0
// Keys of different ranks, rounds, seeds and purposes differ, and the shared ones are the same on all ranks.
#include "laconic/core/round_context.hpp"

#include "support/everything.hpp"

constexpr auto at_compile_time = round_context::of({7}, 3, 1, 4);
static_assert(at_compile_time.round == 3 && at_compile_time.own == key{7}.child(3).child(1));

TEST_CASE("keys of different purposes, ranks, rounds and seeds all differ; what is shared is shared") {
    for (int const ranks : {1, 2, 3, 10}) {
        CAPTURE(ranks);
        std::set<key> all;
        std::size_t expected = 0;
        for (std::uint64_t seed = 0; seed < 3; ++seed)
            for (std::uint64_t round : {0u, 1u, 2u, 1000u}) {
                auto const first = round_context::of({seed}, round, 0, ranks);
                for (int r = 0; r < ranks; ++r) {
                    auto const now = round_context::of({seed}, round, r, ranks);
                    CHECK(now.round == round);
                    CHECK(now.shared == first.shared);
                    CHECK(now.answer == first.answer);
                    all.insert({now.own, now.gradient});
                    expected += 2;
                }
                all.insert({first.shared, first.answer});
                expected += 2;
            }
        CHECK(all.size() == expected);
    }
}

TEST_CASE("a rank's own key does not depend on how many there are: the round's child of its number") {
    for (int r = 0; r < 5; ++r) {
        auto const expected = key{9}.child(6).child(static_cast<std::uint64_t>(r));
        CHECK(round_context::of({9}, 6, r, 5).own == expected);
        CHECK(round_context::of({9}, 6, r, 50).own == expected);
        CHECK(round_context::own_of({9}, 6, r) == expected);
    }
}
