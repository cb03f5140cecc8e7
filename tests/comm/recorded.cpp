// SPDX-License-Identifier: Apache-2.0
// `recorded` logs each exchange, collective and computation of a rank and changes no message.
#include "laconic/comm/recorded.hpp"

#include "laconic/comm/fibers.hpp"
#include "support/everything.hpp"

static_assert(PointToPoint<recorded<metered<fibers::member>>>);

TEST_CASE("what a rank did is written down") {
    std::vector<std::vector<log_entry>> logs(3);
    std::vector<std::byte> const bytes(100);
    auto const of = [&](std::size_t n) { return payload{std::span(bytes).first(n)}; };
    fibers::run(3, [&](fibers::member& inner) {
        recorded comm(inner);
        int const me = comm.rank();
        if (me == 0) comm.exchange(2, of(7), 1);
        if (me == 1) comm.exchange(0, of(5), no_rank);
        if (me == 2) comm.exchange(no_rank, of(9), 0);
        comm.compute(0.5 * me);
        comm.all_gather(of(std::size_t(me)));
        comm.gather(1, of(30 + std::size_t(me)));
        comm.broadcast(2, of(40 + std::size_t(me)));
        comm.inner().all_gather({});
        logs[std::size_t(me)] = comm.log();
        CHECK(comm.take_log() == logs[std::size_t(me)]);
        CHECK(comm.log().empty());
    });
    int const all = log_entry::everyone, none = no_rank;
    CHECK(logs[0] ==
          std::vector<log_entry>{
              {2, 1, 7, 0}, {none, none, 0, 0}, {all, all, 0, 0, true}, {1, none, 30, 0, true}, {none, 2, 0, 0, true}});
    CHECK(logs[1] == std::vector<log_entry>{{0, none, 5, 0},
                                            {none, none, 0, 0.5},
                                            {all, all, 1, 0, true},
                                            {none, 0, 0, 0, true},
                                            {none, 2, 0, 0, true},
                                            {none, 2, 0, 0, true}});
    CHECK(logs[2] == std::vector<log_entry>{{none, 0, 0, 0},
                                            {none, none, 0, 1},
                                            {all, all, 2, 0, true},
                                            {1, none, 32, 0, true},
                                            {0, none, 42, 0, true},
                                            {1, none, 42, 0, true}});
}

TEST_CASE("all-gathers in flight together are written down as they are finished, each with the work since the last") {
    std::vector<std::vector<log_entry>> logs(2);
    fibers::run(2, [&](fibers::member& inner) {
        recorded comm(inner);
        std::vector<std::byte> const mine(30);
        auto const of = [&](std::size_t n) { return payload{std::span(mine).first(n)}; };
        comm.start_all_gather(of(10), 4);
        comm.compute(1);
        comm.start_all_gather(of(20), 2);
        comm.compute(2);
        comm.finish(4);
        comm.start_all_gather(of(30), 4);
        comm.compute(0.5);
        comm.finish(2);
        comm.finish(4);
        comm.compute(3);
        logs[std::size_t(comm.rank())] = comm.take_log();
    });
    int const all = log_entry::everyone;
    CHECK(logs[1] == std::vector<log_entry>{{all, all, 10, 3, true, true},
                                            {all, all, 20, 0.5, true, true},
                                            {all, all, 30, 0, true, true},
                                            {no_rank, no_rank, 0, 3}});
    CHECK(logs[0] == logs[1]);
}

TEST_CASE("work during an all-gather is written down with it, where it is not refused") {
    threads::run(2, [](threads::member& inner) {
        recorded comm(inner);
        std::vector<std::byte> const mine(3 + std::size_t(comm.rank()));
        comm.compute(1);
        comm.start_all_gather({mine});
        comm.compute(2);
        CHECK_THROWS_AS(comm.all_gather({}), argument_error);
        CHECK_THROWS_AS(comm.start_all_gather({}), argument_error);
        comm.compute(0.5);
        comm.finish();
        CHECK_THROWS_AS(comm.finish(), argument_error);
        comm.compute(4);
        int const all = log_entry::everyone, none = no_rank;
        CHECK(comm.log() ==
              std::vector<log_entry>{{none, none, 0, 1}, {all, all, mine.size(), 2.5, true, true}, {none, none, 0, 4}});
    });
}

TEST_CASE("numbers that are no seconds are refused") {
    double const nan = std::numeric_limits<double>::quiet_NaN(), inf = std::numeric_limits<double>::infinity();
    threads::run(1, [&](threads::member& engine) {
        recorded comm(engine);
        for (double const bad : {-1.0, nan, inf}) CHECK_THROWS_AS(comm.compute(bad), argument_error);
    });
}
