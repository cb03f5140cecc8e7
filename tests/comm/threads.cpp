// SPDX-License-Identifier: Apache-2.0
// `threads` limits who computes, and names ranks that leave or stall; ../local_engines.cpp has what fibers promise,
// too.
#include "laconic/comm/threads.hpp"

#include <atomic>
#include <fstream>

#include "support/everything.hpp"
#include "support/failed_schedule.hpp"
#include "support/schedules.hpp"

using laconic::detail::turns;

// Which of the states may compute, one letter each.
std::string computing(std::array<turns::rank_state, 4> const& states) {
    std::string text;
    for (std::size_t i = 0; i < states.size(); ++i)
        if (states[i].may_compute) text += static_cast<char>('a' + i);
    return text;
}

TEST_CASE("at most so many compute, the others in the order in which they could go on") {
    std::array<turns::rank_state, 4> states;
    auto& [a, b, c, d] = states;
    turns all(4, 2);
    for (auto* s : {&d, &b, &a, &c}) all.resume(*s);
    CHECK(computing(states) == "bd");
    all.resume(b);  // it does already
    all.resume(a);  // it is in line already
    all.stops(b);
    CHECK(computing(states) == "ad");
    all.resume(b);  // behind c
    all.stops(d);
    CHECK(computing(states) == "ac");
    all.stops(d);  // it did not: nothing changes
    CHECK(computing(states) == "ac");
    all.stops(a);
    all.stops(c);
    CHECK(computing(states) == "b");
}

TEST_CASE("who has left is not called any more, and takes no one's turn") {
    std::array<turns::rank_state, 4> states;
    auto& [a, b, c, d] = states;
    turns all(4, 1);
    for (auto* s : {&a, &b, &c}) all.resume(*s);
    b.left = true;
    all.stops(b);
    CHECK(computing(states) == "a");
    all.stops(a);
    CHECK(computing(states) == "c");
    all.resume(d);
    all.stops(c);
    CHECK(computing(states) == "d");
}

TEST_CASE("of those who compute, who has the oldest turn is found") {
    std::array<turns::rank_state, 4> states;
    auto& [a, b, c, d] = states;
    turns all(4, 2);
    CHECK(turns::longest(states) == 4);
    for (auto* s : {&d, &b, &a}) all.resume(*s);
    CHECK(turns::longest(states) == 3);
    all.stops(d);  // a computes, for a shorter time than b
    CHECK(turns::longest(states) == 1);
    all.stops(b);
    CHECK(turns::longest(states) == 0);
}

using namespace std::chrono_literals;

static_assert(PointToPoint<threads::member> && Overlapping<threads::member> && Splitting<threads::member>);

using failed_threads = failed_schedule_over<threads>;

int threads_of_this_process() {
    std::ifstream status("/proc/self/status");
    for (std::string line; std::getline(status, line);)
        if (line.starts_with("Threads:")) return std::stoi(line.substr(8));
    return -1;
}

TEST_CASE("what is received stays until this rank's next collective, however far ahead others would like to be") {
    std::atomic<int> wrong = 0;
    threads::run(3, [&](threads::member& comm) {
        for (int turn = 0; turn < 1000; ++turn) {
            if (comm.rank() == turn % 7) std::this_thread::yield();
            comm.all_gather(schedules::test_message(comm.rank(), 3, turn).as_payload());
            if (comm.rank() == 0 && turn < 30) std::this_thread::sleep_for(200us);
            for (int r = 0; r < 3; ++r) wrong += schedules::test_message(r, 3, turn).wrong(comm.from(r));
        }
    });
    CHECK(wrong == 0);
}

TEST_CASE(
    "a rank that does not come before the deadline is named, whatever the others wait for, and as often as they try") {
    struct wait {
        void (*call)(threads::member& comm, threads::member& part);
        bool in_pairs = false;
    };
    for (wait const &each :
         {wait{[](auto&comm, auto&) { comm.all_gather({}); }}, wait{[](auto&, auto&part) { part.all_gather({}); }},
          wait{[](auto&comm, auto&) { comm.start_all_gather({}), comm.finish(); }},
          wait{[](auto&comm, auto&) { comm.start_all_gather({}, 3), comm.finish(3); }},
          wait{[](auto&comm, auto&) { comm.exchange(1, {}, 1); }, true}}) {
        auto const call = each.call;
        bool const in_pairs = each.in_pairs;
        auto const* const why = in_pairs ? "rank 1 sent nothing within 20 ms" : "rank 1 did not come within 20 ms";
        std::atomic<bool> reported = false;
        threads::run(2,
                     [&](threads::member& comm) {
                         auto part = comm.split(0, -comm.rank());
                         while (comm.rank() == 1 && !reported) std::this_thread::yield();
                         if (comm.rank() == 1 && in_pairs) return;
                         for (int k = 0; k < 3; ++k) {  // nobody has come yet, so that this cannot succeed
                             CHECK_THROWS_WITH_AS(call(comm, part), why, comm_error);
                             CHECK_THROWS_AS(comm.finish(), argument_error);
                         }
                         reported = true;
                     },
                     {.deadline = 20ms});
    }
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

TEST_CASE("no thread is left, and no rank is no run") {
    int const before = threads_of_this_process();
    for (int n : {1, 5}) {
        threads::run(n, [](threads::member& comm) { comm.all_gather({}); });
        CHECK_THROWS(threads::run(n, [](threads::member&) { throw argument_error("no"); }));
    }
    CHECK(threads_of_this_process() == before);
    CHECK_THROWS_AS(threads::run(-3, [](threads::member&) {}), argument_error);
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
    std::string thrown;
    try {
        threads::run(2,
                     [&](threads::member& comm) {
                         if (comm.rank() == 0) std::this_thread::sleep_for(200ms);
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
    // In pairs: what a rank handed over again would be taken for its next message.
    std::atomic<int> messages = 0;
    std::atomic<bool> tried_again = false;
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

TEST_CASE("members can be kept elsewhere, and each counts its own meetings") {
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
