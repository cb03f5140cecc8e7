// SPDX-License-Identifier: Apache-2.0
// An `mpi_inbox` reassembles each rank's pieces in order, whatever is awaited, and names who left or stalls.
#include "laconic/comm/mpi_inbox.hpp"

#include <mpi.h>

#include <chrono>

#include "support/test.hpp"

// Part of the program of mpi.cpp, which is run with 1, 3, 4 and 8 ranks.

using namespace laconic;

namespace {

struct own_communicator : detail::mpi_duplicate {
    own_communicator() : mpi_duplicate(MPI_COMM_WORLD) {}
    int rank = mpi_duplicate::rank(), size = mpi_duplicate::size();
};

}  // namespace

TEST_CASE("messages come whole, whatever the order in which they are awaited, and of one rank in its order") {
    own_communicator const here;
    std::size_t const length = 300000;  // of a piece: more than MPI sends unasked
    // Of each rank a message of two pieces, and an error frame of one.
    using detail::mpi_pieces;
    std::array const tags{mpi_pieces::tag(1, false), mpi_pieces::tag(0, false), mpi_pieces::tag(0, true)};
    std::vector<std::vector<std::byte>> sent;
    std::vector<MPI_Request> requests;
    for (int j = 0; j < 3; ++j) sent.emplace_back(length + j, static_cast<std::byte>(10 * here.rank + j));
    for (int to = 0; to < here.size; ++to)
        for (std::size_t j = 0; j < 3; ++j)
            MPI_Isend(sent[j].data(), static_cast<int>(sent[j].size()), MPI_BYTE, to, tags[j], here.all,
                      &requests.emplace_back(MPI_REQUEST_NULL));
    detail::mpi_wait wait{detail::deadline({}), {}};
    detail::mpi_inbox inbox(here, wait);
    std::vector<std::byte> bytes;
    for (int from = here.size; from-- > 0;) {
        auto const all_are = [&](std::span<std::byte const> part, int j) {
            return std::all_of(part.begin(), part.end(),
                               [&](std::byte b) { return b == static_cast<std::byte>(10 * from + j); });
        };
        auto const first = inbox.take(from, bytes);
        CHECK(!first.is_error);
        REQUIRE(first.bytes.size() == 2 * length + 1);
        CHECK(all_are(first.bytes.first(length), 0));
        CHECK(all_are(first.bytes.subspan(length), 1));
        auto const second = inbox.take(from, bytes);
        CHECK(second.is_error);
        REQUIRE(second.bytes.size() == length + 2);
        CHECK(all_are(second.bytes, 2));
    }
    MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
}

TEST_CASE("a message of more pieces than tags can count takes the memory that it needs, not twice as much") {
    own_communicator const here;
    using detail::mpi_pieces;
    std::vector<std::byte> sent(mpi_pieces::largest_count + 100), bytes;
    for (std::size_t i = 0; i < sent.size(); ++i) sent[i] = static_cast<std::byte>(i % 251);
    std::vector<MPI_Request> requests;
    mpi_pieces::for_each({sent}, 1, [&](std::span<std::byte const> piece, int tag) {
        MPI_Isend(piece.data(), 1, MPI_BYTE, here.rank, tag, here.all, &requests.emplace_back(MPI_REQUEST_NULL));
    });
    detail::mpi_wait wait{detail::deadline({}), {}};
    detail::mpi_inbox inbox(here, wait);
    auto const received = inbox.take(here.rank, bytes).bytes;
    CHECK(std::equal(received.begin(), received.end(), sent.begin(), sent.end()));
    CHECK(bytes.capacity() < sent.size() + 1000);
    MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
}

TEST_CASE("pieces that come from two ranks by turns are kept apart") {
    own_communicator const here;
    if (here.size < 3) return;
    // Rank 0 lets 1 and 2 in turn send one piece more, and then waits for a message of its own.
    if (here.rank == 1 || here.rank == 2) {
        std::array<std::vector<std::byte>, 5> pieces;
        std::array<MPI_Request, 5> requests{};  // a long piece goes only once it is taken, which may be later
        for (std::size_t j = 0; j < 5; ++j) {
            MPI_Recv(nullptr, 0, MPI_BYTE, 0, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            pieces[j].assign(1000u << j, static_cast<std::byte>(10 * here.rank + static_cast<int>(j)));
            MPI_Isend(pieces[j].data(), static_cast<int>(pieces[j].size()), MPI_BYTE, 0,
                      detail::mpi_pieces::tag(4 - j, false), here.all, &requests[j]);
            MPI_Send(nullptr, 0, MPI_BYTE, 0, 9, MPI_COMM_WORLD);
        }
        MPI_Waitall(5, requests.data(), MPI_STATUSES_IGNORE);
    }
    if (here.rank == 0) {
        detail::mpi_wait wait{detail::deadline({}), {}};
        detail::mpi_inbox inbox(here, wait);
        std::vector<std::byte> bytes;
        std::byte const own{7};
        for (int j = 0; j < 5; ++j)
            for (int const r : {1, 2}) {
                MPI_Send(nullptr, 0, MPI_BYTE, r, 9, MPI_COMM_WORLD);
                MPI_Recv(nullptr, 0, MPI_BYTE, r, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
                MPI_Send(&own, 1, MPI_BYTE, 0, 0, here.all);
                auto const received = inbox.take(0, bytes).bytes;
                REQUIRE(received.size() == 1);
                CHECK(received[0] == own);
            }
        for (int const r : {2, 1}) {
            auto received = inbox.take(r, bytes).bytes;
            REQUIRE(received.size() == 31000);
            for (int j = 0; j < 5; ++j) {
                auto const piece = received.first(1000u << j);
                CHECK(std::count(piece.begin(), piece.end(), static_cast<std::byte>(10 * r + j)) == 1000 << j);
                received = received.subspan(piece.size());
            }
        }
    }
}

TEST_CASE("a rank that waits for one message takes the others: their sender need not wait for it") {
    own_communicator const here;
    // Of three ranks, 0 and 2 send a short message only after their long one has gone: 0's is taken by 1, who waits
    // for the short one of 2, whose long one is taken by 0, but not before its own has gone.
    int const next = (here.rank + 1) % here.size, last = (here.rank + here.size - 1) % here.size;
    if (here.size < 3) return;
    std::vector<std::byte> const long_one(1 << 20, std::byte{7}), short_one(1, std::byte{8});
    std::vector<std::byte> bytes;
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Isend(long_one.data(), 1 << 20, MPI_BYTE, next, 0, here.all, &request);
    detail::mpi_wait wait{detail::deadline({}), {}};
    detail::mpi_inbox inbox(here, wait);
    if (here.rank % 2 == 0) MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Send(short_one.data(), 1, MPI_BYTE, (here.rank + 2) % here.size, 0, here.all);
    auto const from_second = inbox.take((here.rank + here.size - 2) % here.size, bytes).bytes;
    REQUIRE(from_second.size() == 1);
    CHECK(from_second[0] == std::byte{8});
    auto const from_last = inbox.take(last, bytes).bytes;
    REQUIRE(from_last.size() == 1 << 20);
    CHECK(from_last.back() == std::byte{7});
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

TEST_CASE("a notice comes after all messages of its rank, and is thrown to whoever waits for more") {
    own_communicator const here;
    detail::mpi_wait wait{detail::deadline({}), {}};
    detail::mpi_inbox inbox(here, wait);
    std::vector<std::byte> bytes;
    if (here.rank == 0) {
        std::vector<std::byte> const last_words(5, std::byte{3});
        for (int r = 1; r < here.size; ++r) MPI_Send(last_words.data(), 5, MPI_BYTE, r, 0, here.all);
        wait.why.is(7, "rank 7 is ill");
    } else {
        while (inbox.left() == 0) inbox.look();
        CHECK(inbox.take(0, bytes).bytes.size() == 5);
        for (int k = 0; k < 2; ++k) CHECK_THROWS_WITH_AS(inbox.take(0, bytes), "rank 7 is ill", comm_error);
        CHECK(wait.why.rank() == 7);
        CHECK_FALSE(wait.gave_up);
    }
    inbox.leave();
    inbox.leave();
    while (!inbox.is_over()) {
    }
    CHECK(inbox.left() == static_cast<std::size_t>(here.size - 1));
}

TEST_CASE("at the deadline the rank is named that has not announced its message, by its name") {
    own_communicator const here;
    if (here.size != 3) return;
    detail::mpi_wait wait{detail::deadline(std::chrono::milliseconds(100)), {}, false, {}, {70, 71, 72}};
    detail::mpi_inbox inbox(here, wait);
    std::vector<std::byte> bytes;
    // Rank 0 waits for 2, which has come, and then for 1, which has not.
    if (here.rank == 2) {
        for (int k = 0; k < 2; ++k) MPI_Send(nullptr, 0, MPI_BYTE, 0, detail::mpi_pieces::came, here.all);
        MPI_Send(nullptr, 0, MPI_BYTE, 0, detail::mpi_pieces::tag(0, true), here.all);
    }
    if (here.rank == 0) {
        CHECK(inbox.take(2, bytes, true).is_error);
        inbox.forget_coming(2);
        CHECK_THROWS_WITH_AS(inbox.take(2, bytes, true), "rank 71 did not come within 100 ms", comm_error);
        CHECK(wait.why.rank() == 71);
    }
    MPI_Barrier(here.all);
    // Where all have come, the one whose message does not.
    detail::mpi_wait again{detail::deadline(std::chrono::milliseconds(100)), {}};
    detail::mpi_inbox next(here, again);
    if (here.rank == 0) {
        MPI_Send(nullptr, 0, MPI_BYTE, 0, detail::mpi_pieces::came, here.all);
        CHECK_THROWS_WITH_AS(next.take(0, bytes), "rank 0 did not send all of its message within 100 ms", comm_error);
    }
    MPI_Barrier(here.all);
    // The notices of those who gave up.
    for (int k = 0; k < (here.rank == 0 ? 0 : 2); ++k) {
        std::byte why[200];
        MPI_Recv(why, 200, MPI_BYTE, 0, detail::mpi_pieces::notice, here.all, MPI_STATUS_IGNORE);
    }
}
