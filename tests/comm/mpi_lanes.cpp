// SPDX-License-Identifier: Apache-2.0
// Messages in several lanes arrive in their lanes over MPI, and no lane waits for another; an `mpi_outbox` waits until
// receivers have taken its messages, and for no rank that has left.
#include "laconic/comm/mpi_lanes.hpp"

#include <mpi.h>

#include <chrono>
#include <thread>

#include "support/schedules.hpp"
#include "support/test.hpp"

// Part of the program of mpi.cpp, which is run with 1, 3, 4 and 8 ranks.

using namespace laconic;
using namespace std::chrono_literals;
using schedules::test_message;

namespace {

struct ranks {
    detail::mpi_lanes lanes;
    int rank = lanes.rank(), size = lanes.size();

    explicit ranks(std::size_t piece, std::chrono::milliseconds longest = {})
        : lanes(MPI_COMM_WORLD, piece, {detail::deadline(longest), {}}) {}
    ~ranks() {
        lanes.leave();
        while (!lanes.is_over()) {
        }
    }
};

struct ends {
    detail::mpi_duplicate all{MPI_COMM_WORLD};
    int rank = all.rank(), size = all.size();
    detail::mpi_wait wait;
    detail::mpi_inbox inbox{all, wait};
    detail::mpi_outbox outbox{all.all, wait};

    explicit ends(std::chrono::milliseconds longest) : wait{detail::deadline(longest), {}} {}
};

}  // namespace

TEST_CASE("long and short messages in flight together arrive in their lanes, with a deadline and without") {
    for (auto const deadline : {0ms, 60000ms})
        for (std::size_t const piece : {std::size_t{1} << 20, std::size_t{1000}}) {
            ranks all(piece, deadline);
            auto const sent = [&](int rank, int round, int lane) {
                test_message one(rank, lane, round);
                // So long that they do not go to all others at once, followed by others that would.
                if (lane % 2 == 0) one.bytes.resize(static_cast<std::size_t>(300000 + rank), std::byte(round + lane));
                return one;
            };
            for (int round = 0; round < 3; ++round) {
                for (int lane = 0; lane < detail::most_in_flight; ++lane)
                    all.lanes.start_all_gather(sent(all.rank, round, lane).as_payload(), lane);
                CHECK(all.lanes.started().count() == detail::most_in_flight);
                if (all.rank == round) std::this_thread::sleep_for(20ms);
                for (int lane = 0; lane < detail::most_in_flight; ++lane) {
                    all.lanes.finish(lane);
                    for (int r = 0; r < all.size; ++r) CHECK_FALSE(sent(r, round, lane).wrong(all.lanes.from(r)));
                }
                CHECK_FALSE(all.lanes.started());
                all.lanes.gather(0, sent(all.rank, round, 1).as_payload());
                for (int r = 0; r < all.size && all.rank == 0; ++r)
                    CHECK_FALSE(sent(r, round, 1).wrong(all.lanes.from(r)));
                all.lanes.broadcast(all.size - 1, sent(all.rank, round, 2).as_payload());
                CHECK_FALSE(sent(all.size - 1, round, 2).wrong(all.lanes.from(all.size - 1)));
            }
        }
}

TEST_CASE("a finish does not wait until others take what was started in the next lane") {
    ranks all(std::size_t{1} << 30);
    if (all.size < 3) return;
    std::vector<std::byte> const large(std::size_t{1} << 22);
    all.lanes.start_all_gather({}, 0);
    all.lanes.start_all_gather({large}, 1);
    all.lanes.finish(0);
    // Rank 1 calls MPI for this only when the others have reported that they are through with the first lane.
    if (all.rank == 1)
        for (int n = 1; n < all.size; ++n)
            MPI_Recv(nullptr, 0, MPI_BYTE, MPI_ANY_SOURCE, 11, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    else
        MPI_Send(nullptr, 0, MPI_BYTE, 1, 11, MPI_COMM_WORLD);
    all.lanes.finish(1);
    CHECK(all.lanes.from(all.size - 1).bytes.size() == large.size());
}

TEST_CASE("a rank that has done its part may leave while a message between two others is on its way") {
    ranks all(std::size_t{1} << 30);
    if (all.size < 3) return;
    std::vector<std::byte> const large(std::size_t{1} << 22);
    if (all.rank == 0) {
        MPI_Recv(nullptr, 0, MPI_BYTE, 2, 12, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        std::this_thread::sleep_for(20ms);
    }
    // Rank 1 waits here for the root while rank 2 leaves.
    all.lanes.gather(0, {all.rank == 1 ? std::span(large) : std::span(large).first(9)});
    all.lanes.broadcast(2, {std::span(large).first(9)});
    CHECK(all.lanes.from(2).bytes.size() == 9);
    if (all.rank == 2) {
        all.lanes.leave();
        MPI_Send(nullptr, 0, MPI_BYTE, 0, 12, MPI_COMM_WORLD);
    }
}

TEST_CASE("lanes in flight when all ranks leave hold up none of them") {
    std::vector<std::byte> const mine(100000, std::byte(3));
    ranks all(1000);
    for (int const lane : {4, 1, 6}) all.lanes.start_all_gather({mine}, lane);
    all.lanes.finish(4);
    CHECK(all.lanes.started().count() == 2);
}

TEST_CASE("what is sent is awaited until its receivers have taken it, in any number of pieces") {
    ends me(60s);
    std::vector<std::byte> const message(1 << 20, std::byte(me.rank));
    std::vector<std::byte> bytes;
    for (std::size_t const piece : {std::size_t{1} << 22, std::size_t{70000}}) {
        CHECK_FALSE(me.outbox.waits());
        for (int step = 1; step < me.size; ++step) me.outbox.send({message, true}, (me.rank + step) % me.size, piece);
        CHECK(me.outbox.waits() == (me.size > 1));
        for (int step = 1; step < me.size; ++step) {
            int const from = (me.rank + step) % me.size;
            auto const received = me.inbox.take(from, bytes);
            CHECK(received.is_error);
            CHECK(received.bytes.size() == message.size());
            CHECK(received.bytes.back() == std::byte(from));
        }
        me.outbox.await(me.inbox);
        CHECK_FALSE(me.outbox.waits());
    }
}

TEST_CASE("what a rank that leaves does not take is awaited no longer, and taken when all leave") {
    ends me(0ms);
    std::vector<std::byte> const message(1 << 22);
    if (me.rank != 0) {
        me.outbox.send({message}, 0, message.size());
        me.outbox.await(me.inbox);
    }
    me.inbox.leave();
    CHECK((me.rank == 0 || me.size == 1 || me.outbox.waits()));
    MPI_Barrier(MPI_COMM_WORLD);  // rank 0 takes it only after that
    while (!me.inbox.is_over() || !me.outbox.is_over()) {
    }
}

TEST_CASE("what is sent is awaited though a rank has left that it was not sent to") {
    ends me(0ms);
    if (me.size < 3) return;
    std::vector<std::byte> const message(1 << 22);
    std::vector<std::byte> bytes;
    if (me.rank == 1) {
        me.outbox.send({message}, 0, message.size());
        CHECK(me.outbox.await(me.inbox) == no_rank);
        CHECK_FALSE(me.outbox.waits());
    }
    if (me.rank == 0) {
        // Not by look(), which would take the message.
        MPI_Recv(nullptr, 0, MPI_BYTE, 2, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        std::this_thread::sleep_for(50ms);
        CHECK(me.inbox.take(1, bytes).bytes.size() == message.size());
    }
    me.inbox.leave();
    if (me.rank == 2) MPI_Send(nullptr, 0, MPI_BYTE, 0, 7, MPI_COMM_WORLD);
    while (!me.inbox.is_over() || !me.outbox.is_over()) {
    }
}

TEST_CASE("at the deadline the rank is named that takes nothing") {
    auto* const me = new ends(50ms);  // MPI goes on to use its memory
    if (me->size < 3) return;
    static std::vector<std::byte> const message(1 << 22);
    if (me->rank == 0) {
        me->outbox.send({message}, 2, message.size());
        CHECK_THROWS_WITH_AS(me->outbox.await(me->inbox), "rank 2 did not take a message within 50 ms", comm_error);
        CHECK(me->wait.gave_up);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}
