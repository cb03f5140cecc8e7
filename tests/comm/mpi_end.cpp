// SPDX-License-Identifier: Apache-2.0
// An `mpi_end` exchanges messages, and as a part is over once all ranks have left it.
#include "laconic/comm/mpi_end.hpp"

#include <mpi.h>

#include <chrono>

#include "support/test.hpp"

// Part of the program of mpi.cpp, which is run with 1, 3, 4 and 8 ranks.

using namespace laconic;
using namespace std::chrono_literals;

TEST_CASE("an end hands over in pairs, and as a part it is over once all ranks have left, at other times") {
    int rank = 0, size = 1;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    std::vector<int> names(static_cast<std::size_t>(size));
    std::iota(names.begin(), names.end(), 0);
    detail::mpi_end end(MPI_COMM_WORLD, std::size_t{1} << 20, 50000, 60s, names);
    CHECK(end.is_part());
    std::vector<std::byte> const mine(static_cast<std::size_t>(100000 + rank), std::byte(rank));
    int const next = (rank + 1) % size, last = (rank + size - 1) % size;
    auto const theirs = end.exchange(next, {mine, rank == 0}, last);
    CHECK(theirs.bytes.size() == std::size_t(100000 + last));
    CHECK(theirs.bytes.back() == std::byte(last));
    CHECK(theirs.is_error == (last == 0));
    if (rank == 0) MPI_Barrier(MPI_COMM_WORLD);  // the others leave before
    end.leave();                                 // the others wait for nobody here
    if (rank != 0) {
        CHECK_FALSE(end.is_over());  // rank 0 has not left
        MPI_Barrier(MPI_COMM_WORLD);
    }
    while (!end.is_over()) {
    }
    CHECK_FALSE(end.gave_up());
}
