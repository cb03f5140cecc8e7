// SPDX-License-Identifier: Apache-2.0
// A round that broke off is an error until a saved state is restored.
#include "laconic/transport/broken_round.hpp"

#include "support/everything.hpp"

TEST_CASE("a round that broke off is an error until a saved state is restored") {
    detail::broken_round b;
    b.require_consistent(2, 7);
    b.answer_is_on_its_way();
    CHECK_THROWS_WITH_AS(b.require_consistent(2, 7),
                         "the server's answer in round 7 was lost: only a saved state can be gone on from", comm_error);
    b.sum_is_under_way();
    CHECK_THROWS_WITH_AS(b.require_consistent(2, 7),
                         "the collective of round 7 broke off, and other ranks may have its sum: only a saved state "
                         "can be gone on from",
                         comm_error);
    b.round_is_under_way();
    CHECK_THROWS_WITH_AS(b.require_consistent(2, 7),
                         "round 7 broke off, and other ranks may have finished it: only a saved state can be gone on "
                         "from",
                         comm_error);
    b.rank_moves();
    CHECK_THROWS_WITH_AS(b.require_consistent(2, 7),
                         "round 7 broke off while rank 2 moved: only a saved state can be gone on from", comm_error);
    CHECK_THROWS_AS(b.require_consistent(2, 7), comm_error);
    b.recover();
    b.require_consistent(2, 7);
}
