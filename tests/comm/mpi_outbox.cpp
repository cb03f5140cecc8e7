// SPDX-License-Identifier: Apache-2.0
// An `mpi_outbox` waits until receivers have taken its messages, and for no rank that has left.
#include "laconic/comm/mpi_outbox.hpp"

#include <mpi.h>

#include <chrono>
#include <thread>

#include "support/test.hpp"

// Part of the program of mpi.cpp, which is run with 1, 3, 4 and 8 ranks.

using namespace laconic;
using namespace std::chrono_literals;

namespace {

struct ends {
    detail::mpi_duplicate all{MPI_COMM_WORLD};
    int rank = 0, size = 1;
    detail::mpi_wait wait;
    detail::mpi_inbox inbox{all.all, wait};
    detail::mpi_outbox outbox{all.all, wait};

    explicit ends(std::chrono::milliseconds longest) : wait{detail::deadline(longest), {}} {
        MPI_Comm_rank(all.all, &rank);
        MPI_Comm_size(all.all, &size);
    }
};

}  // namespace

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
