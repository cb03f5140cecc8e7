// SPDX-License-Identifier: Apache-2.0
// participation sets who sends in a round, and by what factor, and lets another level tune the compressor inside.
#include "laconic/adapt/participation.hpp"

#include "support/everything.hpp"

static_assert(Level<participation<>, of_participants<identity>> &&
              Level<participation<warm_up>, of_participants<top_k<>>, float>);

TEST_CASE("the bound is the largest lot of those that take part, the factor ranks over participants") {
    host on;
    std::vector<double> const x(64, 1.);
    std::span<double const> const all(x);
    participation level(2, true, warm_up{4, 8});
    CHECK(to_string(level) == "participation(2, rescaled) of warm_up(4, rounds=8)");
    of_participants<top_k<>> c{{top_k{4}}};
    for (std::uint64_t round : {0, 2, 2, 9}) {
        auto const now = round_context::of(key{3}, round, 1, 5);
        level.tune(on, c, now, all, all);
        int sends = 0;
        for (int r = 0; r < 5; ++r) sends += detail::lot_of(round_context::own_of(key{3}, round, r)) <= c.bound;
        CHECK(sends == 2);
        CHECK(c.factor == 2.5);
        CHECK(c.second.inside.k.of(64) == (round == 0 ? 16 : 4));
    }
    level.tune(on, c, round_context::of(key{3}, 0, 0, 2), all, all);
    CHECK(c.factor == 1);
    CHECK(c.bound > 1);
    participation kept(2, false);
    kept.tune(on, c, round_context::of(key{3}, 0, 0, 5), all, all);
    CHECK(c.factor == 1);
    CHECK(to_string(kept) == "participation(2) of fixed");
}
