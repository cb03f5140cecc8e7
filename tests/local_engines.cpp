// SPDX-License-Identifier: Apache-2.0
// What threads and fibers have in common, and what stands around them: messages arrive as they were sent, and errors
// name the rank that throws or leaves, in pairs, lanes and groups.
#include <atomic>
#include <chrono>
#include <thread>

#include "laconic/comm/fibers.hpp"
#include "support/everything.hpp"
#include "support/failed_schedule.hpp"
#include "support/schedules.hpp"
#include "support/subgroups.hpp"

// How much is wrong with what a rank may call; compiled once, for all engines.
int laws(any_communicator comm) {
    return schedules::all(comm) + schedules::refuses_ranks_that_do_not_exist(comm) +
           schedules::refuses_what_comes_between(comm);
}

TEST_CASE("ranks gather, exchange in pairs and in lanes, by any schedule, however many there are and compute at once") {
    std::atomic<int> wrong = 0;
    for (int n = 1; n <= 9; ++n) {
        CAPTURE(n);
        fibers::run(n, [&](fibers::member& comm) { wrong += laws(comm); }, {.deadline = std::chrono::seconds(60)});
        for (int const at_once : {0, 1, 3})
            threads::run(n, [&](threads::member& comm) { wrong += laws(comm); },
                         {.at_once = at_once, .deadline = std::chrono::seconds(60)});
        CHECK(wrong == 0);
    }
}

TEST_CASE("through wrappers messages arrive as they were sent, and are counted as without them") {
    for (int const ranks : {1, 4, 5}) {
        std::atomic<int> wrong = 0;
        // Not over fibers: the address sanitizer misunderstands those that go on after an exception.
        threads::run(ranks, [&](threads::member& engine) {
            auto const counts = [&](auto& wrapped) {
                metered counted(wrapped);
                wrong += laws(counted) + (&detail::innermost(counted) != &engine);
                return std::array{counted.bytes_sent(), counted.bytes_received(), counted.bytes_broadcast(),
                                  counted.bytes_gathered()};
            };
            auto const bare = counts(engine);
            delayed clocked(engine, network{1, 0x1p-7, 0.25});
            recorded log(engine);
            wrong += counts(clocked) != bare || counts(log) != bare;
            wrong += (clocked.clock() > 0) != (ranks > 1) || log.take_log().empty();
            double const before = clocked.clock();
            any_communicator any(clocked);
            schedules::with_oneself(any);
            clocked.inner().all_gather({});
            wrong += clocked.clock() != before;
        });
        CHECK(wrong == 0);
    }
}

TEST_CASE_TEMPLATE("run throws what a rank throws, of any type; a call that was complete before counts for everyone",
                   engine, threads, fibers) {
    std::atomic<int> complete = 0;
    auto const body = [&](typename engine::member& comm) {
        comm.all_gather({});
        ++complete;
        if (comm.rank() == 1) throw file_error("data", 3, 1, "broken line");
        comm.all_gather({});
    };
    CHECK_THROWS_WITH_AS(engine::run(3, body), "data:3:1: broken line", file_error);
    CHECK(complete == 3);
    CHECK_THROWS_AS(engine::run(2,
                                [](typename engine::member& comm) {
                                    if (comm.rank() == 0) throw 42;
                                    comm.all_gather({});
                                }),
                    int);
    CHECK_THROWS_WITH_AS(engine::run(0, [](auto&) {}), "0 ranks: at least one is needed", argument_error);
    CHECK_THROWS_AS(engine::run(1, [](auto&) {}, {.deadline = std::chrono::milliseconds(-1)}), argument_error);
}

TEST_CASE_TEMPLATE("where all wait for each other the errors say who waits for whom, without a deadline", engine,
                   threads, fibers) {
    using failed_schedule = failed_schedule_over<engine>;
    using member = typename engine::member;
    failed_schedule const circle(3, [](member& comm) { comm.exchange(no_rank, {}, (comm.rank() + 1) % 3); });
    CHECK(circle.errors[0].rank == 1);
    CHECK(circle.thrown ==
          "rank 0 waits for rank 1, which waits for rank 2, which waits for rank 0: no rank can go on");
    for (auto const& error : circle.errors) CHECK(error.why == circle.thrown);
    failed_schedule const gathers(3, [](member& comm) {
        comm.all_gather({});
        comm.rank() == 2 ? void(comm.exchange(no_rank, {}, 1)) : comm.all_gather({});
    });
    CHECK(gathers.errors[0].rank == 2);
    CHECK(gathers.errors[0].why ==
          "rank 0 waits for rank 2, which waits for rank 1, which waits for rank 2: no rank can go on");
    failed_schedule const lanes(3, [&](member& comm) {
        for (int lane = 0; lane < (comm.rank() == 2 ? 1 : 3); ++lane) comm.start_all_gather({}, lane);
        comm.finish(0);
        if (comm.rank() == 2) comm.exchange(no_rank, {}, 0);
        comm.finish(1);
    });
    CHECK(lanes.errors[0].why == "rank 0 waits for rank 2, which waits for rank 0: no rank can go on");
    failed_schedule const alone(1, [](member& comm) { comm.exchange(no_rank, {}, 0); });
    CHECK(alone.thrown == "rank 0 waits for rank 0: no rank can go on");
}

TEST_CASE_TEMPLATE("a wait for a rank that throws or left is an error that names it, and earlier messages still arrive",
                   engine, threads, fibers) {
    using failed_schedule = failed_schedule_over<engine>;
    std::atomic<int> wrong = 0;
    failed_schedule const threw(3, [&](typename engine::member& comm) {
        if (comm.rank() == 1) {
            comm.exchange(0, schedules::test_message(1, 0, 0).as_payload(), no_rank);
            throw file_error("data", 3, 1, "broken line");
        }
        if (comm.rank() == 0) wrong += schedules::test_message(1, 0, 0).wrong(comm.exchange(no_rank, {}, 1));
        comm.exchange(no_rank, {}, comm.rank() == 0 ? 1 : 0);
    });
    CHECK(wrong == 0);
    CHECK(threw.thrown == "data:3:1: broken line");
    for (std::size_t const r : {0u, 2u}) {
        CHECK(threw.errors[r].rank == 1);
        CHECK(threw.errors[r].why == "rank 1 failed: data:3:1: broken line");
    }
    failed_schedule const left(2, [&](typename engine::member& comm) {
        if (comm.rank() == 1) {
            comm.exchange(0, schedules::test_message(1, 0, 0).as_payload(), no_rank);
            return;
        }
        wrong += schedules::test_message(1, 0, 0).wrong(comm.exchange(no_rank, {}, 1));
        comm.exchange(1, {}, no_rank);  // to one who does not care any more
        comm.exchange(no_rank, {}, 1);
    });
    CHECK(wrong == 0);
    CHECK(left.errors[0].rank == 1);
    CHECK(left.errors[0].why == "rank 1 has ended, while others wait for it: all ranks must make the same calls");

    // A wait for a rank that is about to get this error is not taken for a wait of all.
    failed_schedule const through_another(3, [&](typename engine::member& comm) {
        if (comm.rank() == 1) return std::this_thread::sleep_for(std::chrono::milliseconds(5));
        comm.exchange(no_rank, {}, comm.rank() == 0 ? 2 : 1);
    });
    CHECK(through_another.errors[2].why ==
          "rank 1 has ended, while others wait for it: all ranks must make the same calls");
    CHECK(through_another.errors[0].why ==
          "rank 1 has ended, while others wait for it: all ranks must make the same calls");
}

TEST_CASE_TEMPLATE("with several lanes in flight: who leaves or throws is named, and what it started comes first",
                   engine, threads, fibers) {
    using failed_schedule = failed_schedule_over<engine>;
    for (bool const throws : {false, true}) {
        CAPTURE(throws);
        std::atomic<int> wrong = 0;
        failed_schedule const ended(3, [&](typename engine::member& comm) {
            int const me = comm.rank();
            std::vector<schedules::test_message> sent;
            for (int lane = 0; lane < 8; ++lane) sent.emplace_back(me, 3, lane);
            for (int lane = 0; lane < (me == 1 ? 5 : 8); ++lane)
                comm.start_all_gather(sent[std::size_t(lane)].as_payload(), lane);
            if (me == 1) {
                comm.finish(0);
                if (throws) throw file_error("data", 3, 1, "broken line");
                return;
            }
            for (int lane = 0; lane < 5; ++lane) {
                comm.finish(lane);
                for (int r = 0; r < 3; ++r) wrong += schedules::test_message(r, 3, lane).wrong(comm.from(r));
            }
            try {
                comm.finish(5);
            } catch (comm_error const&) {
                CHECK_THROWS_AS(comm.finish(6), argument_error);  // nothing is in flight any more
                comm.start_all_gather({}, 6);                     // and nothing goes on
            }
            ++wrong;
        });
        CHECK(wrong == 0);
        for (std::size_t const r : {0u, 2u}) {
            CHECK(ended.errors[r].rank == 1);
            CHECK(ended.errors[r].why ==
                  (throws ? "rank 1 failed: data:3:1: broken line"
                          : "rank 1 has ended, while others wait for it: all ranks must make the same calls"));
        }
    }
}

TEST_CASE_TEMPLATE("a rank that throws or leaves is named in all groups, by its number in the run", engine, threads,
                   fibers) {
    using failed_schedule = failed_schedule_over<engine>;
    for (bool const throws : {false, true}) {
        CAPTURE(throws);
        failed_schedule const ended(8, [&](typename engine::member& comm) {
            auto rows = comm.split(comm.rank() / 4, -comm.rank());
            rows.all_gather({});
            auto pairs = rows.split(rows.rank() / 2, 0);  // 3 and 2, 1 and 0, 7 and 6, 5 and 4
            if (comm.rank() == 5) {
                if (throws) throw file_error("data", 3, 1, "broken line");
                return;
            }
            if (comm.rank() == 4) pairs.exchange(no_rank, {}, 0);
            pairs.all_gather({});
            if (comm.rank() > 5) rows.start_all_gather({}, 3), rows.finish(3);
            rows.all_gather({});
            comm.all_gather({});
        });
        for (std::size_t const r : {0u, 1u, 2u, 3u, 4u, 6u, 7u}) {
            CHECK(ended.errors[r].rank == 5);
            CHECK(ended.errors[r].why ==
                  (throws ? "rank 5 failed: data:3:1: broken line"
                          : "rank 5 has ended, while others wait for it: all ranks must make the same calls"));
        }
        CHECK(ended.thrown == (throws
                                   ? "data:3:1: broken line"
                                   : "rank 5 has ended, while others wait for it: all ranks must make the same calls"));
    }
}

TEST_CASE_TEMPLATE(
    "where ranks wait for each other in several groups, errors say who for whom, by their numbers in the run", engine,
    threads, fibers) {
    using failed_schedule = failed_schedule_over<engine>;
    failed_schedule const crossed(4, [](typename engine::member& comm) {
        auto rows = comm.split(comm.rank() / 2, 0);
        auto columns = comm.split(comm.rank() % 2, 0);
        // 0 waits for 1 in its row, 1 for 3 in its column, 3 for 2 in its row and 2 for 0 in its column.
        if (comm.rank() == 0 || comm.rank() == 3)
            rows.all_gather({});
        else
            columns.exchange(no_rank, {}, comm.rank() == 1 ? 1 : 0);
    });
    CHECK(crossed.thrown ==
          "rank 0 waits for rank 1, which waits for rank 3, which waits for rank 2, which waits for rank 0: "
          "no rank can go on");
    for (auto const& h : crossed.errors) CHECK(h.why == crossed.thrown);
}

TEST_CASE_TEMPLATE("a rank that destroys its part of a group is named to those that wait for it there, and goes on",
                   engine, threads, fibers) {
    using member = typename engine::member;
    using failed_schedule = failed_schedule_over<engine>;
    auto const waits = {+[](member& part) { part.all_gather({}); },
                        +[](member& part) { part.start_all_gather({}, 3), part.finish(3); },
                        +[](member& part) { part.exchange(no_rank, {}, 1); }};
    for (auto const wait : waits)
        for (bool const first : {true, false}) {
            failed_schedule const dropped(3, [&](member& comm) {
                std::optional<member> part(comm.duplicate());
                member const copy = *part;
                part->all_gather({});
                if (comm.rank() == 1) {
                    if (!first) std::this_thread::sleep_for(std::chrono::milliseconds(2));
                    part.emplace(comm.duplicate());
                    part->all_gather({});
                    part.reset();
                    comm.all_gather({});  // where it would wait as well
                } else {
                    part.emplace(comm.duplicate());
                    part->all_gather({});
                    wait(*part);
                }
            });
            for (auto const& error : dropped.errors) {
                CHECK(error.rank == 1);
                CHECK(error.why == "rank 1 has ended, while others wait for it: all ranks must make the same calls");
            }
        }
    // What others need of it is there: it may destroy its part before they have it.
    std::atomic<int> wrong = 0;
    engine::run(3, [&](member& comm) {
        std::optional<member> part(comm.duplicate());
        if (comm.rank() == 1) {
            part->exchange(2, schedules::test_message(1, 2, 0).as_payload(), no_rank);
            part->all_gather({});
            part.reset();
        } else {
            part->all_gather({});
            if (comm.rank() == 2) wrong += schedules::test_message(1, 2, 0).wrong(part->exchange(no_rank, {}, 1));
        }
        comm.all_gather({});
    });
    CHECK(wrong == 0);
}

TEST_CASE("over threads it is named at once, though it neither communicates nor returns") {
    std::atomic<int> told = 0;
    bool in_time = true;
    failed_schedule_over<threads> const dropped(3, [&](threads::member& comm) {
        std::optional<threads::member> part(comm.duplicate());
        if (comm.rank() == 1) {
            part.reset();
            for (int waited = 0; told < 2 && waited < 5000; ++waited)
                std::this_thread::sleep_for(std::chrono::milliseconds(1));
            in_time = told == 2;
            return;
        }
        try {
            part->all_gather({});
        } catch (comm_error const&) {
            ++told;
            throw;
        }
    });
    CHECK(in_time);
}

TEST_CASE_TEMPLATE("ranks are split by color and key, and what goes through one group mixes with no other", engine,
                   threads, fibers) {
    std::atomic<int> wrong = 0;
    for (int const n : {1, 3, 8}) engine::run(n, [&](typename engine::member& comm) { wrong += subgroups::all(comm); });
    for (int const at_once : {1, 3})
        threads::run(8, [&](threads::member& comm) { wrong += subgroups::all(comm); }, {.at_once = at_once});
    CHECK(wrong == 0);
}
