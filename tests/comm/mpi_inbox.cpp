// SPDX-License-Identifier: Apache-2.0
#include "laconic/comm/mpi_inbox.hpp"

#include <doctest/doctest.h>
#include <mpi.h>

#include <cstddef>
#include <string>
#include <vector>

// Part of the program of mpi.cpp, which is run with 1, 3, 4 and 8 ranks.

using namespace laconic;

namespace {

struct own_communicator {
    MPI_Comm all = MPI_COMM_NULL;
    int rank = 0, size = 1;

    own_communicator() {
        MPI_Comm_dup(MPI_COMM_WORLD, &all);
        MPI_Comm_rank(all, &rank);
        MPI_Comm_size(all, &size);
    }
    ~own_communicator() { MPI_Comm_free(&all); }
};

}  // namespace

TEST_CASE("long messages come whatever the order in which they are awaited, and of one rank in its order") {
    own_communicator const world;
    std::size_t const length = 300000;  // more than MPI sends unasked
    std::vector<std::vector<std::byte>> sent;
    std::vector<MPI_Request> requests(static_cast<std::size_t>(2 * world.size));
    for (int j = 0; j < 2; ++j) sent.emplace_back(length + j, static_cast<std::byte>(10 * world.rank + j));
    for (int to = 0; to < world.size; ++to)
        for (int j = 0; j < 2; ++j)
            MPI_Isend(sent[j].data(), static_cast<int>(sent[j].size()), MPI_BYTE, to, 5 + j, world.all,
                      &requests[static_cast<std::size_t>(2 * to + j)]);
    detail::mpi_inbox inbox(world.all);
    std::vector<std::byte> bytes;
    for (int from = world.size; from-- > 0;) {
        auto const first = inbox.take(from, bytes, 0);
        CHECK(first.tag == 5);
        REQUIRE(first.bytes == length);
        CHECK(bytes[length - 1] == static_cast<std::byte>(10 * from));
        auto const second = inbox.take(from, bytes, length);  // behind it
        CHECK(second.tag == 6);
        REQUIRE(second.bytes == length + 1);
        REQUIRE(bytes.size() >= 2 * length + 1);
        CHECK(bytes[length - 1] == static_cast<std::byte>(10 * from));
        CHECK(bytes[length] == static_cast<std::byte>(10 * from + 1));
        CHECK(bytes[2 * length] == static_cast<std::byte>(10 * from + 1));
    }
    MPI_Waitall(2 * world.size, requests.data(), MPI_STATUSES_IGNORE);
}

TEST_CASE("a rank that waits for one message takes the others: their sender need not wait for it") {
    own_communicator const world;
    // Of three ranks, 0 and 2 say something short only after their long message has gone: 0's is taken by 1, who waits
    // for the short one of 2, whose long one is taken by 0, but not before its own has gone.
    int const next = (world.rank + 1) % world.size, last = (world.rank + world.size - 1) % world.size;
    if (world.size < 3) return;
    std::vector<std::byte> const long_one(1 << 20, std::byte{7}), short_one(1, std::byte{8});
    std::vector<std::byte> bytes;
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Isend(long_one.data(), 1 << 20, MPI_BYTE, next, 1, world.all, &request);
    detail::mpi_inbox inbox(world.all);
    if (world.rank % 2 == 0) MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Send(short_one.data(), 1, MPI_BYTE, (world.rank + 2) % world.size, 2, world.all);
    CHECK(inbox.take((world.rank + world.size - 2) % world.size, bytes, 0).bytes == 1);
    CHECK(bytes[0] == std::byte{8});
    CHECK(inbox.take(last, bytes, 0).bytes == 1 << 20);
    CHECK(bytes[(1 << 20) - 1] == std::byte{7});
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

TEST_CASE("MPI's errors are told in its words") {
    CHECK_NOTHROW(detail::check_mpi(MPI_SUCCESS, "MPI_Send"));
    try {
        detail::check_mpi(MPI_ERR_RANK, "MPI_Send");
        FAIL("no error");
    } catch (comm_error const& e) {
        CHECK(std::string(e.what()).find("MPI_Send: MPI_ERR_RANK") != std::string::npos);
    }
}
