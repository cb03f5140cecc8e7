// SPDX-License-Identifier: Apache-2.0
// Products in tiles are the products, also where matrices are larger than a tile; memory is aligned.
#include "laconic/objective/network_block.hpp"

#include "support/everything.hpp"

TEST_CASE("add_product: adds the product, of matrices of any size") {
    for (auto const [m, k, n] : {std::array<int, 3>{3, 5, 2}, {1, 300, 1}, {130, 70, 140}, {2, 1, 600}}) {
        Eigen::MatrixXd const a = Eigen::MatrixXd::Random(m, k), b = Eigen::MatrixXd::Random(k, n);
        Eigen::MatrixXd out = Eigen::MatrixXd::Ones(m, n);
        detail::add_product(out, a, b);
        CHECK((out - Eigen::MatrixXd::Ones(m, n) - a * b).cwiseAbs().maxCoeff() < 1e-12);
    }
}

TEST_CASE("aligned: the address is a multiple of 64, and memory that is long enough stays") {
    std::vector<float> room;
    auto const first = detail::aligned(room, 100);
    CHECK(first.size() == 100);
    CHECK(reinterpret_cast<std::uintptr_t>(first.data()) % 64 == 0);
    CHECK(detail::aligned(room, 50).data() == first.data());
}

// The parts of a network's block of rows lie one after another, and fill its memory.

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

TEST_CASE("matrix_block: row after row from the offset on") {
    matrix_block const m{3, 2, 4};
    CHECK(m.size() == 8);
    std::vector<std::size_t> places;
    for (std::size_t i = 0; i < 2; ++i)
        for (std::size_t j = 0; j < 4; ++j) places.push_back(m.at(i, j));
    CHECK(places == std::vector<std::size_t>{3, 4, 5, 6, 7, 8, 9, 10});
    CHECK(m == matrix_block{3, 2, 4});
    CHECK(m != matrix_block{3, 4, 2});
    CHECK(matrix_block{}.size() == 0);
}
