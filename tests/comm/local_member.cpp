// SPDX-License-Identifier: Apache-2.0
// A `local_member` counts turns for each lane and forgets all lanes where its engine fails.
// A `local_group` counts which collective calls are complete, lane by lane, and which rank has not come.
#include "laconic/comm/local_member.hpp"

#include "support/everything.hpp"

// An engine in which no rank waits, and which records its calls.
struct written_down {
    static constexpr bool may_change_threads = true;
    using call = std::tuple<char, int, int, std::uint64_t, bool>;
    std::vector<call> calls;
    bool fails = false;

    void start(detail::local_group& in, int rank, int lane, std::uint64_t turn, payload mine, bool waits) {
        if (fails) throw comm_error(1, "gone");
        calls.emplace_back('s', rank, lane, turn, waits);
        in.at(rank).sent[lane][turn % 2].assign(mine);
    }
    void finish(detail::local_group&, int rank, std::uint64_t complete) {
        calls.emplace_back('f', rank, 0, complete, false);
    }
    payload exchange(detail::local_group&, int, int, payload mine, int) { return mine; }
};
static_assert(Overlapping<detail::local_member<written_down>> && PointToPoint<detail::local_member<written_down>>);

TEST_CASE("each lane counts its own turns, and all collective calls are counted together") {
    written_down engine;
    detail::local_member<written_down> comm(engine, std::make_shared<detail::local_group>(std::vector<int>{7}), 0);
    CHECK(comm.size() == 1);
    CHECK(comm.may_change_threads());
    std::byte const bytes[3] = {};
    comm.all_gather({bytes});
    CHECK(comm.from(0).bytes.size() == 3);
    comm.start_all_gather({std::span(bytes).first(1)}, 5);
    comm.start_all_gather({std::span(bytes).first(2)});
    comm.finish(5);
    CHECK(comm.from(0).bytes.size() == 1);
    comm.finish();
    CHECK(comm.from(0).bytes.size() == 2);
    using calls = std::vector<written_down::call>;
    CHECK(engine.calls == calls{{'s', 0, 0, 0, true},
                                {'f', 0, 0, 1, false},
                                {'s', 0, 5, 0, false},
                                {'s', 0, 0, 1, false},
                                {'f', 0, 0, 2, false},
                                {'f', 0, 0, 3, false}});
}

TEST_CASE("where the engine fails nothing is under way") {
    written_down engine;
    detail::local_member<written_down> comm(engine, std::make_shared<detail::local_group>(std::vector<int>{0}), 0);
    comm.start_all_gather({}, 2);
    CHECK_THROWS_AS(comm.exchange(0, {}, 0), argument_error);
    engine.fails = true;
    CHECK_THROWS_AS(comm.start_all_gather({}, 3), comm_error);
    engine.fails = false;
    CHECK_THROWS_AS(comm.finish(2), argument_error);
    comm.exchange(0, {}, 0);
}

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
