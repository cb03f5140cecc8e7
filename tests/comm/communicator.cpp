// SPDX-License-Identifier: Apache-2.0
// Which types satisfy the concepts of communicators, and how waits, lanes and partners of exchanges are checked.
#include "laconic/comm/communicator.hpp"

#include <atomic>

#include "laconic/comm/fibers.hpp"
#include "support/everything.hpp"

// A communicator of your own: one rank, alone.
struct alone {
    payload sent;
    int rank() const { return 0; }
    int size() const { return 1; }
    void all_gather(payload mine) { sent = mine; }
    void gather(int, payload mine) { sent = mine; }
    void broadcast(int, payload mine) { sent = mine; }
    payload from(int) const { return sent; }
};
struct without_from {
    int rank() const { return 0; }
    int size() const { return 1; }
    void all_gather(payload) {}
    void gather(int, payload) {}
    void broadcast(int, payload) {}
};
struct without_gather {
    int rank() const { return 0; }
    int size() const { return 1; }
    void all_gather(payload) {}
    void broadcast(int, payload) {}
    payload from(int) const { return {}; }
};
struct without_broadcast {
    int rank() const { return 0; }
    int size() const { return 1; }
    void all_gather(payload) {}
    void gather(int, payload) {}
    payload from(int) const { return {}; }
};
struct unsigned_rank : alone {
    unsigned rank() const { return 0; }
};

static_assert(Communicator<alone> && Communicator<threads::member>);
static_assert(Communicator<metered<alone>> && Communicator<metered<metered<threads::member>>>);
static_assert(!Communicator<without_from> && !Communicator<without_gather> && !Communicator<without_broadcast>);
struct in_pairs : alone {
    payload exchange(int, payload mine, int) { return mine; }
};
struct silent_pairs : alone {
    void exchange(int, payload, int) {}
};
static_assert(PointToPoint<in_pairs> && PointToPoint<threads::member> && PointToPoint<metered<threads::member>>);
static_assert(!PointToPoint<alone> && !PointToPoint<silent_pairs> && !PointToPoint<metered<alone>>);
struct overlaps : alone {
    void start_all_gather(payload mine, int = 0) { sent = mine; }
    void finish(int = 0) {}
};
struct never_finishes : alone {
    void start_all_gather(payload mine, int = 0) { sent = mine; }
};
struct one_lane : alone {
    void start_all_gather(payload mine) { sent = mine; }
    void finish() {}
};
struct nameless_lane : alone {
    void start_all_gather(payload mine, int) { sent = mine; }
    void finish(int) {}
};
static_assert(Overlapping<overlaps> && Overlapping<threads::member> && Overlapping<metered<overlaps>>);
static_assert(!Overlapping<alone> && !Overlapping<never_finishes> && !Overlapping<one_lane> &&
              !Overlapping<nameless_lane> && !Overlapping<metered<never_finishes>>);
struct splits : alone {
    splits split(int, int) { return {}; }
    splits duplicate() { return {}; }
};
struct splits_into_others : alone {
    alone split(int, int) { return {}; }
    alone duplicate() { return {}; }
};
static_assert(Splitting<splits> && !Splitting<alone> && !Splitting<splits_into_others>);
struct adds_floats : alone {
    void all_reduce(std::span<float>) {}
};
static_assert(AllReducer<adds_floats, float> && AllReducer<metered<adds_floats>, float>);
static_assert(!AllReducer<adds_floats, double> && !AllReducer<alone, float> && !AllReducer<metered<alone>, float>);
static_assert(!Communicator<unsigned_rank> && !Communicator<int>);

TEST_CASE("a payload is a message unless it is marked as an error frame") {
    payload const nothing;
    CHECK(nothing.bytes.empty());
    CHECK_FALSE(nothing.is_error);
    std::byte const word[3] = {};
    payload const message{word};
    CHECK(message.bytes.size() == 3);
    CHECK_FALSE(message.is_error);
}

TEST_CASE("the text of who waits for whom ends where a rank comes again, or after eight ranks") {
    auto const describe = [](std::vector<int> const& waits_for, int rank) {
        return detail::describe_waits(rank, [&](int r) { return waits_for[static_cast<std::size_t>(r)]; });
    };
    CHECK(describe({0}, 0) == "rank 0 waits for rank 0: no rank can go on");
    CHECK(describe({1, 2, 1}, 0) ==
          "rank 0 waits for rank 1, which waits for rank 2, which waits for rank 1: no rank can go on");
    CHECK(describe({no_rank, 0}, 1) == "rank 1 waits for rank 0: no rank can go on");
    CHECK(describe({1, 2, 3, 4, 5, 6, 7, 8, 9, 0}, 0)
              .ends_with("for rank 7, which waits for rank 8, and so on: no rank can go on"));
}

TEST_CASE("one all-gather is under way, or none") {
    detail::under_way one;
    CHECK_NOTHROW(one.check_none());
    CHECK_THROWS_AS(one.finish(), argument_error);
    one.start();
    CHECK_THROWS_AS(one.check_none(), argument_error);
    CHECK_THROWS_AS(one.start(), argument_error);
    CHECK(one);
    one.finish();
    CHECK_FALSE(one);
    CHECK_NOTHROW(one.start());
}

TEST_CASE("all-gathers are under way in lanes, which are finished in the order of their starts") {
    detail::under_way some;
    int const order[] = {3, 0, 7, 1, 2, 6, 5, 4};
    for (int const lane : order) some.start(lane);
    CHECK(some.count() == detail::most_in_flight);
    for (int i = 0; i < detail::most_in_flight; ++i) CHECK(some.lane(i) == order[i]);
    CHECK_THROWS_WITH_AS(some.start(7), "an all-gather is under way in lane 7: finish() comes before the next start",
                         argument_error);
    CHECK_THROWS_WITH_AS(some.finish(7), "lane 7 cannot be finished: lane 3 is the first that was started",
                         argument_error);
    CHECK_THROWS_WITH_AS(some.start(8), "there is no lane 8: they are 0 to 7", argument_error);
    CHECK_THROWS_AS(some.finish(-1), argument_error);
    some.finish(3, [&] { CHECK(some.lane(0) == 3); });
    some.start(3);
    for (int const lane : {0, 7, 1, 2, 6}) some.finish(lane);
    CHECK(some.count() == 3);
    CHECK_THROWS_AS(some.finish(5, [] { throw comm_error(1, "gone"); }), comm_error);
    CHECK_FALSE(some);
    some.start(5);
    CHECK_THROWS_AS(some.start(2, [] { throw comm_error(1, "gone"); }), comm_error);
    CHECK_FALSE(some);
}

TEST_CASE("partners of an exchange are ranks, or none") {
    for (int const r : {no_rank, 0, 2}) CHECK_NOTHROW(detail::check_partners(3, r, 2));
    CHECK_THROWS_WITH_AS(detail::check_partners(3, 3, 0), "an exchange with rank 3 of 3", argument_error);
    CHECK_THROWS_WITH_AS(detail::check_partners(3, 0, -2), "an exchange with rank -2 of 3", argument_error);
}

struct report {
    double value;
    std::uint32_t count;
    std::byte mark;
};

TEST_CASE("every rank gets each rank's value, in the order of ranks, for as many bytes as it has") {
    threads::run(3, [](threads::member& inner) {
        metered comm(inner);
        std::vector<int> ranks;
        report const mine{.5 + inner.rank(), 7u * std::uint32_t(inner.rank()), std::byte(inner.rank())};
        detail::from_all(comm, mine, "its report", [&](int r, report const& theirs) {
            ranks.push_back(r);
            CHECK(theirs.value == .5 + r);
            CHECK(theirs.count == 7u * std::uint32_t(r));
            CHECK(theirs.mark == std::byte(r));
        });
        CHECK(ranks == std::vector<int>{0, 1, 2});
        CHECK(comm.bytes_sent() == sizeof(report));
    });
}

TEST_CASE("what has another length is refused, by its rank and its name") {
    threads::run(2, [](threads::member& comm) {
        std::uint16_t const two = 1;
        std::uint64_t const eight = 2;
        auto const call = [&] {
            if (comm.rank() == 1)
                detail::from_all(comm, two, "its flags", [](int, std::uint16_t) {});
            else
                detail::from_all(comm, eight, "its round", [](int, std::uint64_t) {});
        };
        CHECK_THROWS_WITH_AS(call(),
                             comm.rank() == 1 ? "rank 0 sent 8 bytes in place of its flags, of 2 bytes: all ranks must "
                                                "make the same calls in the same order"
                                              : "rank 1 sent 2 bytes in place of its round, of 8 bytes: all ranks must "
                                                "make the same calls in the same order",
                             comm_error);
        std::byte const bytes[] = {std::byte{1}, std::byte{2}, std::byte{3}};
        comm.all_gather({bytes});
        CHECK(detail::bytes_from(comm, 0, 3, "three bytes").size() == 3);
        CHECK_THROWS_AS(detail::bytes_from(comm, 0, 4, "four bytes"), comm_error);
        CHECK_THROWS_AS(detail::value_from<std::uint16_t>(comm, 0, "two bytes"), comm_error);
    });
}

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
            CHECK_THROWS_AS(detail::subgroup(comm, 0, 0), comm_error);
    });
}
