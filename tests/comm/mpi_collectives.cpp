// SPDX-License-Identifier: Apache-2.0
// Messages of an all-gather over MPI arrive whole at any length and any limit of MPI's.
#include "laconic/comm/mpi_collectives.hpp"

#include <mpi.h>

#include "support/test.hpp"

// Part of the program of mpi.cpp, which is run with 1, 3, 4 and 8 ranks.

using namespace laconic;

TEST_CASE("what is started comes, of any length, whatever MPI carries at a time") {
    struct limits {
        std::size_t longest, piece;
    };
    // Shorter than a piece, together or each; in several pieces; and longer than MPI carries.
    for (auto const& how : {limits{1u << 30, 4000}, limits{1u << 30, 40}, limits{300, 2}, limits{5, 40}}) {
        CAPTURE(how.longest);
        CAPTURE(how.piece);
        detail::mpi_collectives comm(MPI_COMM_WORLD, how.longest, how.piece);
        auto const me = static_cast<std::size_t>(comm.rank());
        // Nothing, a piece and a byte more, many, and again; other ranks, other lengths.
        std::size_t turn = 0;
        for (std::size_t const length : {0, 1, 39, 40, 127, 300, 7, 0, 0, 500, 531, 532}) {
            auto const message = [&](std::size_t r) {
                return std::vector<std::byte>(length + r % 3, std::byte(r + turn));
            };
            auto const mine = message(me);
            comm.start_all_gather({mine, turn % 3 == me % 3});
            comm.finish();
            for (int r = 0; r < comm.size(); ++r) {
                auto const received = comm.from(r);
                auto const expected = message(static_cast<std::size_t>(r));
                CHECK(std::equal(received.bytes.begin(), received.bytes.end(), expected.begin(), expected.end()));
                CHECK(received.is_error == (turn % 3 == static_cast<std::size_t>(r) % 3));
            }
            ++turn;
        }
    }
}

TEST_CASE("messages that are too long to be sent to all at once come as well, of other lengths from each") {
    detail::mpi_collectives comm(MPI_COMM_WORLD, std::size_t{1} << 30, 64000);
    auto const length = [](int r) { return static_cast<std::size_t>(r % 2 == 0 ? 300000 + r : 100 * r); };
    for (int turn = 0; turn < 3; ++turn) {
        std::vector<std::byte> const mine(length(comm.rank()), std::byte(comm.rank() + turn));
        comm.start_all_gather({mine});
        comm.finish();
        for (int r = 0; r < comm.size(); ++r) {
            std::vector<std::byte> const expected(length(r), std::byte(r + turn));
            auto const received = comm.from(r).bytes;
            CHECK(std::equal(received.begin(), received.end(), expected.begin(), expected.end()));
        }
    }
}

TEST_CASE("what was started and is not finished goes with it, on all ranks") {
    std::vector<std::byte> const mine(100000, std::byte(3));
    for (int k = 0; k < 2; ++k) {
        detail::mpi_collectives comm(MPI_COMM_WORLD, 1u << 20, k == 0 ? 1u << 20 : 1000);
        comm.start_all_gather({mine});
        CHECK_THROWS_AS(comm.require_ready(), argument_error);
    }
}
