// SPDX-License-Identifier: Apache-2.0
// All ranks send the whole vector in the same rounds, which have probability p, and compress in the others.
#include "laconic/adapt/synchronise.hpp"

#include "support/everything.hpp"

static_assert(Level<synchronise, identity_or<identity>>);

static_assert(Level<synchronise, identity_or<rand_k<>>> && Level<synchronise, identity_or<rand_k<>>, float>);

TEST_CASE("all ranks send in full in the same rounds, the first one among them, as often as p says") {
    host on;
    identity_or c{rand_k{1}};
    std::vector<double> const x{1, 2};
    int full = 0;
    for (std::uint64_t round = 0; round < 100; ++round) {
        int senders = 0;
        for (int rank = 0; rank < 3; ++rank) {
            auto const now = round_context::of(key{1}, round, rank, 3);
            synchronise{.5}.tune(on, c, now, std::span<double const>(x), std::span<double const>(x));
            senders += c.in_full;
        }
        CHECK((senders == 0 || senders == 3));
        if (round == 0) CHECK(senders == 3);
        full += senders == 3;
    }
    CHECK(full > 25);
    CHECK(full < 75);
    CHECK(to_string(synchronise{.5}) == "synchronise(0.5)");
}
