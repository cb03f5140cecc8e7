// SPDX-License-Identifier: Apache-2.0
// `fibers` has thousands of ranks in one thread, and names the one that stalls; ../local_engines.cpp has what threads
// promise, too.
#include "laconic/comm/fibers.hpp"

#include <chrono>
#include <thread>

#include "support/everything.hpp"
#include "support/failed_schedule.hpp"
#include "support/schedules.hpp"

using laconic::detail::mapped_stack;
using laconic::detail::paused_stack;

// makecontext hands over ints only.
struct pair_of_stacks {
    paused_stack first;
    mapped_stack second;
    std::string order;
    bool on_its_own = false;
} stacks;

void in_the_second() {
    paused_stack::begin(stacks.first);
    std::byte const here{};
    auto const at = reinterpret_cast<std::uintptr_t>(&here);
    auto const bottom = reinterpret_cast<std::uintptr_t>(stacks.second.bottom);
    stacks.on_its_own = at >= bottom && at < bottom + stacks.second.size;
    stacks.order += '2';
    stacks.second.resume(stacks.first);
    try {
        throw std::runtime_error("4");
    } catch (std::runtime_error const& e) {
        stacks.order += e.what();
    }
    paused_stack::end(stacks.first);
}

TEST_CASE("two stacks run by turns, one of them in memory of its own") {
    REQUIRE(stacks.second.map(100000));
    CHECK(stacks.second.size >= 100000);
    stacks.second.context.uc_link = &stacks.first.context;
    makecontext(&stacks.second.context, in_the_second, 0);
    stacks.order += '1';
    stacks.first.resume(stacks.second);
    stacks.order += '3';
    stacks.first.resume(stacks.second);
    CHECK(stacks.order == "1234");
    CHECK(stacks.on_its_own);
}

TEST_CASE("where there is no memory for a stack, map() returns false") {
    mapped_stack none;
    CHECK_FALSE(none.map(std::size_t{1} << 60));
}

static_assert(PointToPoint<fibers::member> && Overlapping<fibers::member> && Splitting<fibers::member>);

std::vector<std::byte> payload_of(int rank, int turn) {
    return std::vector<std::byte>(static_cast<std::size_t>((3 * rank + 5 * turn) % 11), std::byte(rank + 16 * turn));
}

TEST_CASE("every rank receives from all, in one thread, for any number of ranks") {
    for (int const n : {1, 7, 300}) {
        CAPTURE(n);
        int wrong = 0, done = 0;
        auto const here = std::this_thread::get_id();
        fibers::run(n, [&](fibers::member& comm) {
            for (int turn = 0; turn < (n == 300 ? 2 : 9); ++turn) {
                comm.all_gather({payload_of(comm.rank(), turn), (turn + comm.rank()) % 5 == 0});
                for (int r = 0; r < n; ++r) {
                    auto const received = comm.from(r);
                    auto const expected = payload_of(r, turn);
                    wrong +=
                        received.is_error != ((turn + r) % 5 == 0) ||
                        !std::equal(expected.begin(), expected.end(), received.bytes.begin(), received.bytes.end());
                }
            }
            wrong += std::this_thread::get_id() != here;
            ++done;
        });
        CHECK(wrong == 0);
        CHECK(done == n);
    }
}

TEST_CASE("at the deadline all errors name the rank that computed while others waited, once it waits itself") {
    using namespace std::chrono_literals;
    // One rank computes for longer than the deadline, while the others are ready to go on after a collective call.
    for (int const slow : {0, 1, 2}) {
        CAPTURE(slow);
        std::vector<caught_error> errors(3);
        auto const body = [&](fibers::member& comm) {
            auto& mine = errors[std::size_t(comm.rank())];
            for (int turn = 0; turn < 4; ++turn) {
                if (turn == 1 && comm.rank() == slow) std::this_thread::sleep_for(60ms);
                auto const now = error_of_all_gather(comm);
                CHECK((mine.rank == -7 || mine.rank == now.rank));  // the error stays the same
                mine = now;
            }
            throw comm_error(mine.rank, mine.why);
        };
        CHECK_THROWS_AS(fibers::run(3, body, {.deadline = 20ms}), comm_error);
        for (auto const& h : errors) {
            CHECK(h.rank == slow);
            CHECK(h.why == "rank " + std::to_string(slow) + " let no other rank compute within 20 ms");
        }
    }
    // Or while one waits for it, and for another that does not get its turn.
    std::vector<caught_error> errors(3);
    fibers::run(3,
                [&](fibers::member& comm) {
                    if (comm.rank() == 1) {
                        comm.exchange(no_rank, {}, 2);
                        std::this_thread::sleep_for(60ms);
                        comm.exchange(2, {}, no_rank);
                    }
                    if (comm.rank() == 2) CHECK_THROWS_AS(comm.exchange(1, {}, 1), comm_error);
                    errors[std::size_t(comm.rank())] = error_of_all_gather(comm);
                },
                {.deadline = 20ms});
    CHECK(errors[0].why == "rank 1 did not come within 20 ms");
    CHECK(errors[1].why == errors[0].why);
    // Before a body begins, too: then it does not.
    int begun = 0;
    std::string why;
    try {
        fibers::run(2,
                    [&](fibers::member&) {
                        ++begun;
                        std::this_thread::sleep_for(30ms);
                    },
                    {.deadline = 10ms});
    } catch (comm_error const& e) {
        CHECK(e.rank == 0);
        why = e.what();
    }
    CHECK(why == "rank 0 let no other rank compute within 10 ms");
    CHECK(begun == 1);
}

TEST_CASE("at the deadline the rank is named that hands nothing over, not those that go on without end meanwhile") {
    using namespace std::chrono_literals;
    std::vector<caught_error> errors(4);
    fibers::run(4,
                [&](fibers::member& comm) {
                    auto& mine = errors[std::size_t(comm.rank())];
                    try {
                        // Ranks 2 and 3 exchange on; rank 0 waits for rank 1, which waits for a message never sent.
                        if (comm.rank() < 2) comm.exchange(no_rank, {}, comm.rank() + 1);
                        for (;;) comm.exchange(5 - comm.rank(), {}, 5 - comm.rank());
                    } catch (comm_error const& e) {
                        mine = {e.rank, e.what()};
                    }
                },
                {.deadline = 20ms});
    for (auto const& h : errors) {
        CHECK((h.rank == 2 || h.rank == 3));  // both could have
        CHECK(h.why == "rank " + std::to_string(h.rank) + " sent nothing within 20 ms");
    }
}

TEST_CASE("a rank that leaves early is named, and what the others hold is given back") {
    caught_error errors;
    auto const held = std::make_shared<int>(1);
    fibers::run(3, [&](fibers::member& comm) {
        auto const mine = held;
        comm.all_gather({});
        if (comm.rank() == 1) return;
        errors = error_of_all_gather(comm);
    });
    CHECK(errors.rank == 1);
    CHECK(errors.why == "rank 1 has ended, while others wait for it: all ranks must make the same calls");
    CHECK_THROWS_AS(fibers::run(3,
                                [&](fibers::member& comm) {
                                    auto const mine = held;
                                    if (comm.rank() == 2) return;
                                    comm.all_gather({});
                                }),
                    comm_error);
    CHECK(held.use_count() == 1);
}

TEST_CASE("who runs ahead lets the others catch up, but waits for nobody") {
    int handed_over = 0, taken = 0, most = 0;
    fibers::run(2, [&](fibers::member& comm) {
        for (int k = 0; k < 200; ++k) {
            if (comm.rank() == 0) {
                comm.exchange(1, {}, no_rank);
                most = std::max(most, ++handed_over - taken);
            } else {
                comm.exchange(no_rank, {}, 0);
                ++taken;
            }
        }
        if (comm.rank() == 0)
            for (int k = 0; k < 200; ++k) comm.exchange(1, {}, no_rank);  // and nobody takes these
    });
    CHECK(taken == 200);
    CHECK(most < 20);
}

TEST_CASE("a chain of a thousand ranks, each of which waits for the next") {
    int last = 0;
    fibers::run(1000, [&](fibers::member& comm) {
        int const me = comm.rank();
        auto received = me < 999 ? schedules::numbers_of(comm.exchange(no_rank, {}, me + 1)) : schedules::numbers{0};
        ++received[0];
        if (me > 0) comm.exchange(me - 1, {schedules::bytes_of(received)}, no_rank);
        if (me == 0) last = static_cast<int>(received[0]);
    });
    CHECK(last == 1000);
}

TEST_CASE("a rank that catches the error of a wait and tries again sends nothing, and gets the same error") {
    std::vector<int> same(3);
    int messages = 0, received_something = 0;
    std::string const why = "rank 0 waits for rank 1, which waits for rank 0: no rank can go on";
    fibers::run(3, [&](fibers::member& comm) {
        int const me = comm.rank();
        auto const tries = [&](auto call) {
            try {
                call();
                ++received_something;
            } catch (comm_error const& e) {
                same[static_cast<std::size_t>(me)] += e.rank == 1 && e.what() == why;
            }
        };
        for (int turn = 0; turn < 3; ++turn) {
            if (me == 0) tries([&] { comm.all_gather({payload_of(0, turn)}); });
            tries([&] { comm.exchange(2, {}, me == 1 ? 0 : 1); });
        }
        if (me == 2) try {
                for (;; ++messages) comm.exchange(no_rank, {}, 1);
            } catch (comm_error const&) {
            }
    });
    CHECK(same[0] == 6);
    CHECK(same[1] == 3);
    CHECK(messages + received_something <= 1);
}

// What AddressSanitizer blames if it takes the fiber's stack for another.
TEST_CASE("a fiber may throw and catch, far up its stack, and go on") {
    int caught = 0;
    auto const deep = [&](auto const& self, int depth) -> int {
        std::array<volatile int, 64> frame{};
        frame[std::size_t(depth) % 64] = depth;
        if (depth == 0) throw std::runtime_error("here");
        return self(self, depth - 1) + frame[std::size_t(depth) % 64];
    };
    fibers::run(3, [&](fibers::member& comm) {
        for (int i = 0; i < 4; ++i) {
            CHECK_THROWS_AS(deep(deep, 50 + 100 * i), std::runtime_error);
            try {
                deep(deep, 40);
            } catch (std::runtime_error const&) {
                ++caught;
            }
            comm.all_gather({});
            std::array<volatile int, 4096> frame{};
            for (std::size_t j = 0; j < frame.size(); ++j) frame[j] = int(j);
        }
    });
    CHECK(caught == 12);
    CHECK_THROWS_AS(deep(deep, 20), std::runtime_error);  // on the stack that was left and found again
}

TEST_CASE("one run may be held within another") {
    int sum = 0;
    fibers::run(2, [&](fibers::member& outer) {
        fibers::run(2, [&](fibers::member& inner) {
            inner.all_gather({});
            sum += 10 * outer.rank() + inner.rank();
        });
        outer.all_gather({});
    });
    CHECK(sum == 0 + 1 + 10 + 11);
}

TEST_CASE("a start waits for nobody: its rank goes on, and may leave") {
    std::vector<int> order;
    int wrong = 0;
    fibers::run(3, [&](fibers::member& comm) {
        schedules::test_message const mine(comm.rank(), 3, 0);
        comm.start_all_gather(mine.as_payload());
        order.push_back(comm.rank());
        if (comm.rank() == 1) return;
        comm.finish();
        order.push_back(10 + comm.rank());
        for (int r = 0; r < 3; ++r) wrong += schedules::test_message(r, 3, 0).wrong(comm.from(r));
    });
    CHECK(order == std::vector<int>{0, 1, 2, 12, 10});
    CHECK(wrong == 0);
}

TEST_CASE("hundreds of ranks in groups, of which some end before others") {
    int done = 0;
    fibers::run(300, [&](fibers::member& comm) {
        auto part = comm.split(comm.rank() % 10, comm.rank() / 10 % 7);
        for (int k = 0; k < 1 + comm.rank() % 10; ++k) part.all_gather({});
        ++done;
    });
    CHECK(done == 300);
}
