// SPDX-License-Identifier: Apache-2.0
// Ranks of one color are ordered by key, then by rank; a bad color or a rank elsewhere is an error.
#include "laconic/comm/subgroup.hpp"

#include <atomic>

#include "laconic/comm/fibers.hpp"
#include "support/everything.hpp"

using namespace laconic;

TEST_CASE("the ranks of one color stand in the order of their keys, then of their ranks") {
    int const colors[] = {5, 0, 5, 5, 0, 5}, keys[] = {3, 0, -2, 3, 9, -7};
    std::vector<std::vector<int>> found(6);
    fibers::run(6, [&](fibers::member& comm) {
        auto const me = static_cast<std::size_t>(comm.rank());
        found[me] = detail::subgroup(comm, colors[me], keys[me]);
    });
    for (std::size_t r = 0; r < 6; ++r)
        CHECK(found[r] == (colors[r] == 5 ? std::vector<int>{5, 2, 0, 3} : std::vector<int>{1, 4}));
}

TEST_CASE("a color below 0 is refused on all ranks, and who is elsewhere is named") {
    int refused = 0;
    fibers::run(3, [&](fibers::member& comm) {
        CHECK_THROWS_WITH_AS(detail::subgroup(comm, 4 - 3 * comm.rank(), 0),
                             "rank 2 has color -2: colors are at least 0", argument_error);
        ++refused;
    });
    CHECK(refused == 3);
    fibers::run(2, [](fibers::member& comm) {
        if (comm.rank() == 1)
            comm.all_gather({});
        else
            CHECK_THROWS_WITH_AS(detail::subgroup(comm, 0, 0), "rank 1 made another collective call than split",
                                 comm_error);
    });
}
