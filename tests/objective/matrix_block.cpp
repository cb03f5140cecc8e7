// SPDX-License-Identifier: Apache-2.0
// A matrix block numbers its elements row after row from its offset on.
#include "laconic/objective/matrix_block.hpp"

#include "support/everything.hpp"

TEST_CASE("matrix_block: row after row from the offset on") {
    laconic::matrix_block const m{3, 2, 4};
    CHECK(m.size() == 8);
    std::vector<std::size_t> places;
    for (std::size_t i = 0; i < 2; ++i)
        for (std::size_t j = 0; j < 4; ++j) places.push_back(m.at(i, j));
    CHECK(places == std::vector<std::size_t>{3, 4, 5, 6, 7, 8, 9, 10});
    CHECK(m == laconic::matrix_block{3, 2, 4});
    CHECK(m != laconic::matrix_block{3, 4, 2});
    CHECK(laconic::matrix_block{}.size() == 0);
}
