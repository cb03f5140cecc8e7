// SPDX-License-Identifier: Apache-2.0
// A `local_group` counts which collective calls are complete, lane by lane, and which rank has not come.
#include "laconic/comm/local_group.hpp"

#include "support/everything.hpp"

using namespace laconic;

TEST_CASE("collective calls are complete in the order of their starts, up to as many at once as there are lanes") {
    detail::local_group three({4, 9, 2});
    CHECK(three.size() == 3);
    CHECK(three.number(1) == 9);
    auto const all = [](int) { return true; };
    for (int lane = 0; lane < detail::most_in_flight; ++lane) CHECK_FALSE(three.arrive(1, lane));
    CHECK(three.missing(1, all) == 4);
    for (int lane = 0; lane < detail::most_in_flight; ++lane) {
        CHECK_FALSE(three.arrive(0, lane));
        CHECK(three.complete() == std::uint64_t(lane));
        CHECK(three.missing(std::uint64_t(lane) + 1, all) == 2);
        CHECK(three.arrive(2, lane));
        CHECK(three.complete() == std::uint64_t(lane) + 1);
        CHECK(three.missing(std::uint64_t(lane) + 1, all) == no_rank);
    }
    CHECK_FALSE(three.arrive(0, 5));
    CHECK(three.missing(9, all) == 9);
    CHECK(three.missing(9, [](int rank) { return rank == 2; }) == 2);
}

TEST_CASE("one collective call is in one lane") {
    detail::local_group two({0, 1});
    two.arrive(0, 3);
    CHECK_THROWS_WITH_AS(two.arrive(1, 4),
                         "rank 1 starts an all-gather in lane 4 that another rank has started in lane 3",
                         argument_error);
    CHECK(two.at(1).arrived == 0);
    CHECK(two.arrive(1, 3));
    two.arrive(1, 4);
    CHECK(two.arrive(0, 4));
}

TEST_CASE("how far those have come that have left") {
    detail::local_group three({4, 9, 2});
    int calls = 0;
    std::vector<int> gone;
    auto const left = [&](int rank) {
        ++calls;
        for (int const g : gone)
            if (g == rank) return true;
        return false;
    };
    CHECK(three.least_of_left(0, left) == ~std::uint64_t{0});
    CHECK(calls == 0);
    for (int turn = 0; turn < 2; ++turn)
        for (int r = 0; r < 3; ++r) three.arrive(r, 0);
    three.arrive(1, 0);
    gone = {1};
    CHECK(three.least_of_left(1, left) == 3);
    CHECK(calls == 3);
    CHECK(three.least_of_left(1, left) == 3);
    CHECK(calls == 3);
    gone = {1, 2};
    CHECK(three.least_of_left(2, left) == 2);
}
