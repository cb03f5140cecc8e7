// SPDX-License-Identifier: Apache-2.0
// An `mpi_end` exchanges messages, and as a part is over once all ranks have left it, which they may in other orders,
// with long messages still under way.
// What its calls deliver, of any length and in any pieces, mpi.cpp and mpi_lanes.cpp check.
#include "laconic/comm/mpi_end.hpp"

#include <mpi.h>

#include <chrono>

#include "support/test.hpp"

// Part of the program of mpi.cpp, which is run with 1, 3, 4 and 8 ranks.

using namespace laconic;
using namespace std::chrono_literals;

namespace {

struct job {
    int rank = 0, size = 1;
    std::vector<int> names;
    job() {
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
        MPI_Comm_size(MPI_COMM_WORLD, &size);
        names.resize(static_cast<std::size_t>(size));
        std::iota(names.begin(), names.end(), 0);
    }
};

}  // namespace

TEST_CASE("an end hands over in pairs, and as a part it is over once all ranks have left, at other times") {
    job const all;
    int const rank = all.rank, size = all.size;
    detail::mpi_end end(MPI_COMM_WORLD, std::size_t{1} << 20, 50000, 60s, all.names);
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

TEST_CASE("ends that ranks let go of in different orders are waited for together") {
    job const all;
    int const rank = all.rank, size = all.size;
    auto const part = [&] {
        return std::make_unique<detail::mpi_end>(MPI_COMM_WORLD, std::size_t{1} << 30, 64000, 0ms, all.names);
    };
    auto a = part(), b = part();
    // Long messages that their receivers have not taken when the sender lets go.
    std::vector<std::byte> const long_one(1 << 20, std::byte(rank));
    int const next = (rank + 1) % size;
    for (auto* end : {&a, &b})
        if (size > 1) (*end)->exchange(next, {long_one}, no_rank);
    {
        detail::mpi_dropped dropped;
        if (rank % 2 == 1) std::swap(a, b);
        dropped.add(std::move(a));
        CHECK(b->is_part());
        detail::mpi_drop const drop{std::shared_ptr<detail::mpi_dropped>(&dropped, [](auto*) {})};
        drop(b.release());
        dropped.look();
    }
    MPI_Barrier(MPI_COMM_WORLD);
}
