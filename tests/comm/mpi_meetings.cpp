// SPDX-License-Identifier: Apache-2.0
#include "laconic/comm/mpi_meetings.hpp"

#include <doctest/doctest.h>
#include <mpi.h>

#include <algorithm>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

// Part of the program of mpi.cpp, which is run with 1, 3, 4 and 8 ranks.

using namespace laconic;

TEST_CASE("what is longer than the last time comes as well, whatever MPI carries at a time") {
    for (std::size_t const longest : {std::size_t{1} << 30, std::size_t{2000}, std::size_t{5}}) {
        CAPTURE(longest);
        detail::mpi_meetings comm(MPI_COMM_WORLD, longest);
        auto const me = static_cast<std::size_t>(comm.rank());
        // Shorter, longer by less than a sixteenth and by more, nothing, and again; other ranks, other lengths.
        std::size_t turn = 0;
        for (std::size_t const length : {0, 32, 33, 34, 300, 7, 0, 0, 500, 531, 532}) {
            auto const said = [&](std::size_t r) {
                return std::vector<std::byte>(length + r % 3, std::byte(r + turn));
            };
            auto const mine = said(me);
            comm.start_all_gather({mine, turn % 3 == me % 3});
            comm.finish();
            for (int r = 0; r < comm.size(); ++r) {
                auto const heard = comm.from(r);
                auto const expected = said(static_cast<std::size_t>(r));
                CHECK(std::equal(heard.bytes.begin(), heard.bytes.end(), expected.begin(), expected.end()));
                CHECK(heard.complaint == (turn % 3 == static_cast<std::size_t>(r) % 3));
            }
            ++turn;
        }
    }
}

TEST_CASE("what was started and is not finished goes with it, on all ranks") {
    std::vector<std::byte> const mine(100000, std::byte(3));
    for (int k = 0; k < 2; ++k) {
        detail::mpi_meetings comm(MPI_COMM_WORLD, 1u << 20);
        comm.start_all_gather({mine});
        comm.finish();
        comm.start_all_gather({mine});  // now the bytes travel at once
        CHECK_THROWS_AS(comm.check_none_under_way(), argument_error);
    }
}

TEST_CASE("a contribution is cut into pieces, the last of which says so") {
    std::vector<std::byte> const bytes(7);
    std::vector<std::pair<std::size_t, int>> pieces;
    auto const note = [&](std::span<std::byte const> piece, int tag) { pieces.emplace_back(piece.size(), tag); };
    detail::mpi_pieces::for_each({bytes, true}, 3, note);
    detail::mpi_pieces::for_each({}, 3, note);
    CHECK(pieces == std::vector<std::pair<std::size_t, int>>{{3, 3}, {3, 3}, {1, 1}, {0, 0}});
}
