// SPDX-License-Identifier: Apache-2.0
// A tag carries how many pieces follow and whether they are an error frame; MPI's errors keep their text.
#include "laconic/comm/mpi_pieces.hpp"

#include <mpi.h>

#include "support/test.hpp"

// Part of the program of mpi.cpp, which is run with 1, 3, 4 and 8 ranks.

using namespace laconic;

TEST_CASE("a tag counts the pieces that follow, as far as MPI's tags go") {
    using detail::mpi_pieces;
    for (bool const is_error : {false, true})
        for (std::size_t const left : {0, 1, 16381, 16382, 20000}) {
            int const tag = mpi_pieces::tag(left, is_error);
            CHECK((tag >= 0 && tag < mpi_pieces::notice));
            CHECK(mpi_pieces::left(tag) == std::min<std::size_t>(left, 16382));
            CHECK(mpi_pieces::is_error(tag) == is_error);
        }
}

TEST_CASE("an error of MPI has the text of MPI") {
    CHECK_NOTHROW(detail::check_mpi(MPI_SUCCESS, "MPI_Send"));
    char text[MPI_MAX_ERROR_STRING] = {};
    int length = 0;
    MPI_Error_string(MPI_ERR_RANK, text, &length);
    REQUIRE(length > 0);
    CHECK_THROWS_WITH_AS(detail::check_mpi(MPI_ERR_RANK, "MPI_Send"), ("MPI_Send: " + std::string(text)).c_str(),
                         comm_error);
}

TEST_CASE("a payload is cut into pieces, each of which states how many follow") {
    std::vector<std::byte> const bytes(7);
    std::vector<std::pair<std::size_t, int>> pieces;
    auto const note = [&](std::span<std::byte const> piece, int tag) { pieces.emplace_back(piece.size(), tag); };
    detail::mpi_pieces::for_each({bytes, true}, 3, note);
    detail::mpi_pieces::for_each({}, 3, note);
    CHECK(pieces == std::vector<std::pair<std::size_t, int>>{{3, 5}, {3, 3}, {1, 1}, {0, 0}});
}
