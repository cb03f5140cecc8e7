// SPDX-License-Identifier: Apache-2.0
// `threads` carries all collectives and exchanges, limits who computes, and names ranks that throw, leave or stall.
#include "laconic/comm/threads.hpp"

#include <atomic>
#include <fstream>

#include "laconic/core/key.hpp"
#include "support/failed_schedule.hpp"
#include "support/schedules.hpp"
#include "support/test.hpp"

using namespace laconic;
using namespace std::chrono_literals;

static_assert(PointToPoint<threads::member> && Overlapping<threads::member> && Splitting<threads::member>);

namespace {

std::vector<std::byte> payload_of(int rank, std::uint64_t turn) {
    auto const length = key{turn}.child(std::uint64_t(rank)).below(0, 40);  // 0 to 39 bytes
    std::vector<std::byte> bytes(length);
    for (std::size_t i = 0; i < length; ++i) bytes[i] = std::byte(31 * rank + 7 * int(turn) + int(i));
    return bytes;
}

bool received_right(threads::member& comm, std::uint64_t turn) {
    for (int r = 0; r < comm.size(); ++r) {
        auto const expected = payload_of(r, turn);
        auto const received = comm.from(r);
        if (received.is_error != ((turn + std::uint64_t(r)) % 5 == 0)) return false;
        if (!std::equal(expected.begin(), expected.end(), received.bytes.begin(), received.bytes.end())) return false;
    }
    return true;
}

using failed_threads = failed_schedule_over<threads>;

int threads_of_this_process() {
    std::ifstream status("/proc/self/status");
    for (std::string line; std::getline(status, line);)
        if (line.starts_with("Threads:")) return std::stoi(line.substr(8));
    return -1;
}

}  // namespace

TEST_CASE("every rank receives from all, lengths differ, error frames are marked, whatever computes at once") {
    for (int const n : {1, 2, 3, 7, 16})
        for (int const at_once : {0, 1, 2, 10}) {
            CAPTURE(n);
            CAPTURE(at_once);
            std::atomic<int> wrong = 0, computing = 0, most = 0;
            threads::run(n,
                         [&](threads::member& comm) {
                             for (std::uint64_t turn = 0; turn < 25; ++turn) {
                                 int const now = ++computing;
                                 for (int seen = most; seen < now && !most.compare_exchange_weak(seen, now);) {
                                 }
                                 auto const mine = payload_of(comm.rank(), turn);
                                 --computing;
                                 comm.all_gather({mine, (turn + std::uint64_t(comm.rank())) % 5 == 0});
                                 wrong += !received_right(comm, turn);
                             }
                         },
                         {.at_once = at_once});
            CHECK(wrong == 0);
            if (at_once > 0) CHECK(most <= at_once);
        }
}

TEST_CASE("thousands of collective calls, ranks of very different speed") {
    std::atomic<int> wrong = 0;
    threads::run(3, [&](threads::member& comm) {
        for (std::uint64_t turn = 0; turn < 4000; ++turn) {
            if (comm.rank() == int(turn % 7)) std::this_thread::yield();
            comm.all_gather({payload_of(comm.rank(), turn), (turn + std::uint64_t(comm.rank())) % 5 == 0});
            wrong += !received_right(comm, turn);
        }
    });
    CHECK(wrong == 0);
}

TEST_CASE("what is received stays until this rank's next collective, however far ahead others would like to be") {
    std::atomic<int> wrong = 0;
    threads::run(2, [&](threads::member& comm) {
        for (std::uint64_t turn = 0; turn < 50; ++turn) {
            comm.all_gather({payload_of(comm.rank(), turn), (turn + std::uint64_t(comm.rank())) % 5 == 0});
            if (comm.rank() == 0) std::this_thread::sleep_for(200us);
            wrong += !received_right(comm, turn);
        }
    });
    CHECK(wrong == 0);
}

TEST_CASE("where a rank throws, the others' errors name it and its reason, and run throws the same") {
    for (int const n : {2, 3, 7}) {
        std::vector<caught_error> errors(static_cast<std::size_t>(n));
        auto const body = [&](threads::member& comm) {
            for (int turn = 0; turn < 10; ++turn) {
                if (comm.rank() == 1 && turn == 4) throw file_error("data", 3, 1, "broken line");
                auto const t = error_of_all_gather(comm);
                if (t.rank == -7) continue;
                errors[static_cast<std::size_t>(comm.rank())] = t;
                throw comm_error(t.rank, t.why);
            }
        };
        try {
            threads::run(n, body);
            FAIL("no exception");
        } catch (file_error const& e) {
            CHECK(e.line == 3);
        }
        for (int r = 0; r < n; ++r) {
            if (r == 1) continue;
            CHECK(errors[std::size_t(r)].rank == 1);
            CHECK(errors[std::size_t(r)].why == "rank 1 failed: data:3:1: broken line");
        }
    }
    CHECK_THROWS_AS(threads::run(2,
                                 [](threads::member& comm) {
                                     if (comm.rank() == 0) throw 42;
                                     comm.all_gather({});
                                 }),
                    int);
}

TEST_CASE("a collective call that was complete before a rank threw counts for everyone") {
    std::atomic<int> complete = 0;
    CHECK_THROWS_AS(threads::run(3,
                                 [&](threads::member& comm) {
                                     comm.all_gather({});
                                     ++complete;
                                     if (comm.rank() == 0) throw argument_error("after the first");
                                     comm.all_gather({});
                                 }),
                    argument_error);
    CHECK(complete == 3);
}

TEST_CASE("a rank that leaves early is named") {
    caught_error errors;
    CHECK_THROWS_AS(threads::run(2,
                                 [&](threads::member& comm) {
                                     comm.all_gather({});
                                     if (comm.rank() == 1) return;
                                     errors = error_of_all_gather(comm);
                                     throw comm_error(errors.rank, errors.why);
                                 }),
                    comm_error);
    CHECK(errors.rank == 1);
    CHECK(errors.why == "rank 1 left before the others were done");
}

TEST_CASE("the rank that left is named, not one that is still on its way") {
    std::atomic<bool> reported = false;
    caught_error errors;
    threads::run(3, [&](threads::member& comm) {
        if (comm.rank() == 2) return;
        if (comm.rank() == 1) {
            while (!reported) std::this_thread::yield();
            return;
        }
        errors = error_of_all_gather(comm);
        reported = true;
    });
    CHECK(errors.rank == 2);
}

TEST_CASE("a rank that comes too late is named") {
    std::atomic<bool> reported = false;
    caught_error errors;
    CHECK_THROWS_AS(threads::run(2,
                                 [&](threads::member& comm) {
                                     if (comm.rank() == 0) {
                                         errors = error_of_all_gather(comm);
                                         reported = true;
                                         throw comm_error(errors.rank, errors.why);
                                     }
                                     while (!reported) std::this_thread::yield();
                                     comm.all_gather({});
                                 },
                                 {.deadline = 20ms}),
                    comm_error);
    CHECK(errors.rank == 1);
    CHECK(errors.why == "rank 1 did not come within 20 ms");
}

TEST_CASE("a rank that was too late once is not taken for one that was in time") {
    std::atomic<bool> reported = false;
    caught_error second;
    bool received_something = false;
    try {
        threads::run(2,
                     [&](threads::member& comm) {
                         if (comm.rank() == 0) {
                             error_of_all_gather(comm);
                             second = error_of_all_gather(comm);  // nobody has come yet, so this cannot succeed
                             received_something = second.rank == -7;
                             reported = true;
                             return;
                         }
                         while (!reported) std::this_thread::yield();
                     },
                     {.deadline = 20ms});
    } catch (comm_error const&) {
    }
    CHECK_FALSE(received_something);
    CHECK(second.rank == 1);
}

TEST_CASE("a deadline that is met changes nothing") {
    std::atomic<int> wrong = 0;
    threads::run(3,
                 [&](threads::member& comm) {
                     for (std::uint64_t turn = 0; turn < 50; ++turn) {
                         comm.all_gather({payload_of(comm.rank(), turn), (turn + std::uint64_t(comm.rank())) % 5 == 0});
                         wrong += !received_right(comm, turn);
                     }
                 },
                 {.at_once = 1, .deadline = 60s});
    CHECK(wrong == 0);
}

TEST_CASE("no thread is left, and no rank is no run") {
    int const before = threads_of_this_process();
    for (int n : {1, 5}) {
        threads::run(n, [](threads::member& comm) { comm.all_gather({}); });
        CHECK_THROWS(threads::run(n, [](threads::member&) { throw argument_error("no"); }));
    }
    CHECK(threads_of_this_process() == before);
    CHECK_THROWS_WITH_AS(threads::run(0, [](threads::member&) {}), "0 ranks: at least one is needed", argument_error);
    CHECK_THROWS_AS(threads::run(-3, [](threads::member&) {}), argument_error);
}

TEST_CASE("ranks that compute one after another and all at once send the same bytes") {
    auto const transcript = [](int at_once) {
        std::vector<std::byte> all;
        threads::run(5,
                     [&](threads::member& comm) {
                         std::uint64_t state = std::uint64_t(comm.rank());
                         for (int turn = 0; turn < 30; ++turn) {
                             comm.all_gather({std::as_bytes(std::span(&state, 1))});
                             for (int r = 0; r < comm.size(); ++r) {
                                 std::uint64_t theirs;
                                 std::memcpy(&theirs, comm.from(r).bytes.data(), sizeof theirs);
                                 state = key{state}.child(theirs).bits;
                                 auto const received = comm.from(r).bytes;
                                 if (comm.rank() == 2) all.insert(all.end(), received.begin(), received.end());
                             }
                         }
                     },
                     {.at_once = at_once});
        return all;
    };
    auto const reference = transcript(1);
    CHECK(reference.size() == 5 * 30 * 8);
    CHECK(transcript(2) == reference);
    CHECK(transcript(10) == reference);
    CHECK(transcript(0) == reference);
}

TEST_CASE("ranks exchange in pairs, by any schedule, however many there are and compute at once") {
    for (int n = 1; n <= 9; ++n)
        for (int const at_once : {0, 1, 3}) {
            CAPTURE(n);
            CAPTURE(at_once);
            std::atomic<int> wrong = 0;
            threads::run(n, [&](threads::member& comm) { wrong += schedules::all(comm); },
                         {.at_once = at_once, .deadline = 60s});
            CHECK(wrong == 0);
        }
}

TEST_CASE("a rank that waits for another gives its turn to compute away, and no more compute than may") {
    for (int const at_once : {1, 2}) {
        std::atomic<int> computing = 0, most = 0, wrong = 0;
        threads::run(6,
                     [&](threads::member& comm) {
                         int const n = comm.size(), me = comm.rank();
                         for (int k = 0; k < 200; ++k) {
                             int const now = ++computing;
                             for (int seen = most; seen < now && !most.compare_exchange_weak(seen, now);) {
                             }
                             schedules::test_message const mine(me, (me + 1) % n, k);
                             --computing;
                             auto const received = comm.exchange((me + 1) % n, mine.as_payload(), (me + n - 1) % n);
                             wrong += schedules::test_message((me + n - 1) % n, me, k).wrong(received);
                         }
                     },
                     {.at_once = at_once});
        CHECK(wrong == 0);
        CHECK(most <= at_once);
    }
}

TEST_CASE("what an exchange returned stays until this rank's next one, however far ahead its sender runs") {
    std::atomic<int> wrong = 0;
    threads::run(2, [&](threads::member& comm) {
        if (comm.rank() == 0) {
            wrong += schedules::test_message(1, 0, 0).wrong(comm.exchange(1, {}, 1));
            for (int k = 0; k < 500; ++k) comm.exchange(1, schedules::test_message(0, 1, k).as_payload(), no_rank);
            comm.exchange(no_rank, {}, 1);
            return;
        }
        comm.exchange(0, schedules::test_message(1, 0, 0).as_payload(), 0);
        for (int k = 0; k < 500; ++k) {
            auto const received = comm.exchange(no_rank, {}, 0);
            if (k < 5) std::this_thread::sleep_for(200us);
            wrong += schedules::test_message(0, 1, k).wrong(received);
        }
        comm.exchange(0, {}, no_rank);
    });
    CHECK(wrong == 0);
}

TEST_CASE("a rank that hands over nothing is named at the deadline") {
    std::atomic<bool> reported = false;
    failed_threads const late(2,
                               [&](threads::member& comm) {
                                   if (comm.rank() == 1) {
                                       while (!reported) std::this_thread::yield();
                                       return;
                                   }
                                   try {
                                       comm.exchange(1, {}, 1);
                                   } catch (comm_error const&) {
                                       reported = true;
                                       throw;
                                   }
                               },
                               {.deadline = 20ms});
    CHECK(late.errors[0].rank == 1);
    CHECK(late.errors[0].why == "rank 1 sent nothing within 20 ms");
}

TEST_CASE("where all wait for each other the errors say who waits for whom, without a deadline") {
    failed_threads const circle(3, [](threads::member& comm) {
        if (comm.rank() == 0) std::this_thread::sleep_for(5ms);
        comm.exchange(no_rank, {}, (comm.rank() + 1) % 3);
    });
    CHECK(circle.errors[0].rank == 1);
    std::string const why =
        "rank 0 waits for rank 1, which waits for rank 2, which waits for rank 0: no rank can go on";
    CHECK(circle.errors[0].why == why);
    for (std::size_t const r : {1u, 2u}) CHECK(circle.errors[r].why == why);
    CHECK(circle.thrown == why);

    failed_threads const gathers(3, [](threads::member& comm) {
        if (comm.rank() == 2)
            comm.exchange(no_rank, {}, 1);
        else
            comm.all_gather({});
    });
    CHECK(gathers.errors[0].rank == 2);
    CHECK(gathers.errors[0].why ==
          "rank 0 waits for rank 2, which waits for rank 1, which waits for rank 2: no rank can go on");
    failed_threads const alone(1, [](threads::member& comm) { comm.exchange(no_rank, {}, 0); });
    CHECK(alone.thrown == "rank 0 waits for rank 0: no rank can go on");
}

TEST_CASE("of three ranks one has left and two wait for each other: they get an error, whichever came last") {
    for (int const leaver : {0, 2}) {
        CAPTURE(leaver);
        int const low = leaver == 0 ? 1 : 0, high = low + 1;
        failed_threads const two(3,
                                  [&](threads::member& comm) {
                                      if (comm.rank() != leaver)
                                          comm.exchange(no_rank, {}, comm.rank() == low ? high : low);
                                  },
                                  {.at_once = 1, .deadline = 20s});  // one after another, as their numbers are
        std::string const l = std::to_string(low), h = std::to_string(high);
        CHECK(two.thrown ==
              "rank " + l + " waits for rank " + h + ", which waits for rank " + l + ": no rank can go on");
        CHECK(two.errors[std::size_t(low)].rank == high);
        CHECK(two.errors[std::size_t(high)].why == two.thrown);
    }
}

TEST_CASE("at the deadline all errors name the rank that computes, not one that waits for it") {
    std::atomic<int> reported = 0;
    failed_threads const late(3,
                               [&](threads::member& comm) {
                                   if (comm.rank() == 1) {
                                       comm.exchange(no_rank, {}, 2);
                                       while (reported < 2) std::this_thread::yield();
                                       return;
                                   }
                                   // Rank 0 waits for rank 2 before that has its turn, which then waits for rank 1.
                                   try {
                                       if (comm.rank() == 2) std::this_thread::sleep_for(50ms);
                                       comm.rank() == 0 ? comm.exchange(no_rank, {}, 2) : comm.exchange(1, {}, 1);
                                   } catch (comm_error const&) {
                                       ++reported;
                                       throw;
                                   }
                               },
                               {.at_once = 1, .deadline = 200ms});
    for (std::size_t const r : {0u, 2u}) {
        CHECK(late.errors[r].rank == 1);
        CHECK(late.errors[r].why == "rank 1 sent nothing within 200 ms");
    }
}

TEST_CASE("a rank that keeps its turn to compute is named by those who wait for theirs, before and after they begin") {
    std::atomic<bool> over = false;
    std::string thrown;
    try {
        threads::run(2,
                     [&](threads::member& comm) {
                         if (comm.rank() == 0)
                             for (int n = 0; n < 600 && !over; ++n) std::this_thread::sleep_for(5ms);
                         over = true;
                     },
                     {.at_once = 1, .deadline = 20ms});
    } catch (comm_error const& e) {
        CHECK(e.rank == 0);
        thrown = e.what();
    }
    CHECK(thrown == "rank 0 let no other rank compute within 20 ms");

    // Rank 1 hands rank 0 what it waits for, and computes on.
    std::atomic<bool> reported = false;
    failed_threads const after(2,
                                [&](threads::member& comm) {
                                    if (comm.rank() == 1) {
                                        comm.exchange(0, {}, no_rank);
                                        for (int n = 0; n < 600 && !reported; ++n) std::this_thread::sleep_for(5ms);
                                        return;
                                    }
                                    try {
                                        comm.exchange(no_rank, {}, 1);
                                    } catch (comm_error const&) {
                                        reported = true;
                                        throw;
                                    }
                                },
                                {.at_once = 1, .deadline = 50ms});
    CHECK(after.errors[0].rank == 1);
    CHECK(after.errors[0].why == "rank 1 let no other rank compute within 50 ms");
}

TEST_CASE("a rank that catches the deadline's error and tries again sends nothing, and gets the same error") {
    std::atomic<bool> tried_again = false;
    std::atomic<int> received_something = 0, same_errors = 0;
    threads::run(2,
                 [&](threads::member& comm) {
                     bool const late = comm.rank() == 1;
                     while (late && !tried_again) std::this_thread::yield();
                     for (int turn = 0; turn < 4; ++turn) try {
                             comm.all_gather({payload_of(comm.rank(), std::uint64_t(turn))});
                             ++received_something;
                         } catch (comm_error const& e) {
                             same_errors += e.rank == 1 && e.what() == std::string("rank 1 did not come within 20 ms");
                         }
                     if (!late) tried_again = true;
                 },
                 {.deadline = 20ms});
    CHECK(received_something == 0);
    CHECK(same_errors == 8);

    // In pairs: what a rank handed over again would be taken for its next message.
    std::atomic<int> messages = 0;
    tried_again = false;
    threads::run(3,
                 [&](threads::member& comm) {
                     if (comm.rank() == 0) {
                         for (int k = 0; k < 3; ++k) CHECK_THROWS_AS(comm.exchange(2, {}, 1), comm_error);
                         tried_again = true;
                         return;
                     }
                     while (!tried_again) std::this_thread::yield();
                     if (comm.rank() == 1) return;
                     try {
                         for (;; ++messages) comm.exchange(no_rank, {}, 0);
                     } catch (comm_error const&) {
                     }
                 },
                 {.deadline = 20ms});
    CHECK(messages == 1);
    CHECK_THROWS_AS(threads::run(1, [](threads::member&) {}, {.deadline = -1ms}), argument_error);
}

TEST_CASE("ranks that do not exist are refused") {
    std::atomic<int> wrong = 0;
    threads::run(2, [&](threads::member& comm) {
        wrong += schedules::refuses_ranks_that_do_not_exist(comm);
        CHECK_THROWS_WITH_AS(comm.exchange(2, {}, 0), "an exchange with rank 2 of 2", argument_error);
    });
    CHECK(wrong == 0);
}

TEST_CASE("between a start and its finish nothing else may come") {
    std::atomic<int> wrong = 0;
    threads::run(3, [&](threads::member& comm) { wrong += schedules::refuses_what_comes_between(comm); });
    CHECK(wrong == 0);
    threads::run(1, [&](threads::member& comm) {
        CHECK_THROWS_WITH_AS(comm.finish(), "there is no all-gather to finish: start_all_gather() comes before",
                             argument_error);
        comm.start_all_gather({});
        CHECK_THROWS_WITH_AS(comm.all_gather({}), "an all-gather is under way: finish() comes before anything else",
                             argument_error);
    });
}

TEST_CASE("a start waits for nobody, and its rank may leave: the others receive what it sent") {
    std::atomic<int> started = 0, wrong = 0;
    threads::run(3, [&](threads::member& comm) {
        auto const mine = schedules::test_message(comm.rank(), 3, 0);
        if (comm.rank() == 2)  // the others started before this one comes
            while (started < 2) std::this_thread::yield();
        comm.start_all_gather(mine.as_payload());
        ++started;
        if (comm.rank() == 1) return;
        comm.finish();
        for (int r = 0; r < 3; ++r) wrong += schedules::test_message(r, 3, 0).wrong(comm.from(r));
    });
    CHECK(wrong == 0);
}

TEST_CASE("a rank that computes after its start keeps its turn, and the others theirs") {
    std::atomic<int> computing = 0, most = 0, wrong = 0;
    threads::run(5,
                 [&](threads::member& comm) {
                     for (int k = 0; k < 100; ++k) {
                         schedules::test_message const mine(comm.rank(), 5, k);
                         comm.start_all_gather(mine.as_payload());
                         int const now = ++computing;
                         for (int seen = most; seen < now && !most.compare_exchange_weak(seen, now);) {
                         }
                         if (k % 10 == comm.rank()) std::this_thread::yield();
                         --computing;
                         comm.finish();
                         for (int r = 0; r < 5; ++r) wrong += schedules::test_message(r, 5, k).wrong(comm.from(r));
                     }
                 },
                 {.at_once = 2});
    CHECK(wrong == 0);
    CHECK(most <= 2);
}

TEST_CASE("with several lanes in flight: who does not come before the deadline is named, and who waits for whom") {
    std::atomic<bool> reported = false;
    failed_threads const late(2,
                               [&](threads::member& comm) {
                                   comm.start_all_gather({}, 3);
                                   comm.finish(3);
                                   comm.start_all_gather({}, 0);
                                   if (comm.rank() == 1) {
                                       while (!reported) std::this_thread::yield();
                                       return;
                                   }
                                   comm.start_all_gather({}, 1);
                                   comm.finish(0);
                                   try {
                                       comm.finish(1);
                                   } catch (comm_error const&) {
                                       reported = true;
                                       throw;
                                   }
                               },
                               {.deadline = 20ms});
    CHECK(late.errors[0].why == "rank 1 did not come within 20 ms");
    failed_threads const all_wait(3, [&](threads::member& comm) {
        for (int lane = 0; lane < (comm.rank() == 2 ? 1 : 3); ++lane) comm.start_all_gather({}, lane);
        comm.finish(0);
        if (comm.rank() == 2) comm.exchange(no_rank, {}, 0);
        comm.finish(1);
    });
    CHECK(all_wait.errors[0].why == "rank 0 waits for rank 2, which waits for rank 0: no rank can go on");
}

TEST_CASE("ranks that start other lanes get an error that names both") {
    std::string thrown;
    try {
        threads::run(2, [&](threads::member& comm) {
            for (int lane = 0; lane < 2; ++lane) comm.start_all_gather({}, comm.rank() == 0 ? lane : 2 * lane);
            for (int lane = 0; lane < 2; ++lane) comm.finish(comm.rank() == 0 ? lane : 2 * lane);
        });
    } catch (argument_error const& e) {
        thrown = e.what();
    }
    CHECK((thrown == "rank 1 starts an all-gather in lane 2 that another rank has started in lane 1" ||
           thrown == "rank 0 starts an all-gather in lane 1 that another rank has started in lane 2"));
}

TEST_CASE("what goes wrong with an all-gather under way is thrown by its finish, and nothing is under way then") {
    auto const finish = [](threads::member& comm) {
        comm.start_all_gather({});
        comm.finish();
    };
    std::atomic<bool> reported = false;
    failed_threads const late(2,
                               [&](threads::member& comm) {
                                   if (comm.rank() == 1) {
                                       while (!reported) std::this_thread::yield();
                                       return;
                                   }
                                   comm.start_all_gather({});
                                   try {
                                       comm.finish();
                                   } catch (comm_error const&) {
                                       reported = true;
                                       CHECK_THROWS_AS(comm.finish(), argument_error);
                                       throw;
                                   }
                               },
                               {.deadline = 20ms});
    CHECK(late.errors[0].rank == 1);
    CHECK(late.errors[0].why == "rank 1 did not come within 20 ms");

    failed_threads const threw(3, [&](threads::member& comm) {
        finish(comm);
        if (comm.rank() == 1) throw file_error("data", 3, 1, "broken line");
        finish(comm);
    });
    CHECK(threw.thrown == "data:3:1: broken line");
    for (std::size_t const r : {0u, 2u}) CHECK(threw.errors[r].why == "rank 1 failed: data:3:1: broken line");

    failed_threads const all_wait(2, [&](threads::member& comm) {
        if (comm.rank() == 1) comm.exchange(no_rank, {}, 0);
        finish(comm);
    });
    CHECK(all_wait.errors[0].why == "rank 0 waits for rank 1, which waits for rank 0: no rank can go on");
}

TEST_CASE("who waits for a rank in one group does not go on because of what that rank hands over in another") {
    failed_threads const twins(2,
                                [](threads::member& comm) {
                                    auto twin = comm.duplicate();
                                    if (comm.rank() == 1) twin.exchange(0, {}, no_rank);
                                    comm.exchange(no_rank, {}, 1 - comm.rank());
                                },
                                {.at_once = 1, .deadline = 5s});  // rank 0 waits when rank 1 hands that over
    CHECK(twins.thrown == "rank 0 waits for rank 1, which waits for rank 0: no rank can go on");
}

TEST_CASE("who does not come to a collective call of its group before the deadline is named by its number in the run") {
    std::atomic<bool> reported = false;
    failed_threads const late(4,
                               [&](threads::member& comm) {
                                   auto part = comm.split(comm.rank() / 2, -comm.rank());
                                   if (comm.rank() == 3) {
                                       while (!reported) std::this_thread::yield();
                                       return;
                                   }
                                   if (comm.rank() < 2) return part.all_gather({});
                                   try {
                                       part.all_gather({});
                                   } catch (comm_error const&) {
                                       reported = true;
                                       throw;
                                   }
                               },
                               {.deadline = 50ms});
    CHECK(late.errors[2].rank == 3);
    CHECK(late.errors[2].why == "rank 3 did not come within 50 ms");
}

TEST_CASE("members can be kept elsewhere, and each counts its own collective calls") {
    std::atomic<int> wrong = 0;
    threads::run(4, [&](threads::member& comm) {
        std::vector<threads::member> levels;
        levels.push_back(comm.duplicate());
        levels.back().start_all_gather(schedules::test_message(comm.rank(), 0, 1).as_payload(), 5);
        for (int k = 1; k < 6; ++k) levels.push_back(comm.split(comm.rank() / 2, k));  // the first one moves
        levels[0].finish(5);
        for (int r = 0; r < 4; ++r) wrong += schedules::test_message(r, 0, 1).wrong(levels[0].from(r));
        for (auto& level : levels) wrong += schedules::ring_algorithm(level) + schedules::in_flight_together(level, 2);
    });
    CHECK(wrong == 0);
}
