// SPDX-License-Identifier: Apache-2.0
// The parts of a network's block of rows lie one after another, and fill its memory.
#include "laconic/objective/network_block.hpp"

#include "support/everything.hpp"

using namespace laconic;

TEST_CASE("network_block: data, hidden units and their slopes, outputs") {
    std::array<matrix_block, 2> const layers{{{0, 3, 2}, {9, 4, 3}}};
    CHECK(detail::network_block<double>::width_of(layers) == 2 + 2 * 3 + 4);
    std::vector<double> memory(5 * 12);
    detail::network_block<double> const b{layers, memory.data(), row_choice::all(20), 10, 5};
    CHECK(b.row(2) == 12);
    CHECK(b.into(0).data() == memory.data());
    CHECK(b.into(0).cols() == 2);
    CHECK(b.into(1).data() == memory.data() + 5 * 2);
    CHECK(b.slopes_into(1).data() == memory.data() + 5 * 5);
    CHECK(b.slopes_into(1).cols() == 3);
    CHECK(b.last().data() == memory.data() + 5 * 8);
    CHECK(b.outputs_of(4).data() + 4 == memory.data() + memory.size());
}
