// SPDX-License-Identifier: Apache-2.0
// Parts that ranks drop in different orders end together, with long messages still under way.
#include "laconic/comm/mpi_dropped.hpp"

#include <mpi.h>

#include <chrono>

#include "support/test.hpp"

// Part of the program of mpi.cpp, which is run with 1, 3, 4 and 8 ranks.

using namespace laconic;
using namespace std::chrono_literals;

TEST_CASE("ends that ranks let go of in different orders are waited for together") {
    int rank = 0, size = 1;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    std::vector<int> names(static_cast<std::size_t>(size));
    std::iota(names.begin(), names.end(), 0);
    auto const part = [&] {
        return std::make_unique<detail::mpi_end>(MPI_COMM_WORLD, std::size_t{1} << 30, 64000, 0ms, names);
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
