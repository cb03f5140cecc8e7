// SPDX-License-Identifier: Apache-2.0
// Products in tiles are the products, also where matrices are larger than a tile; memory is aligned.
#include "laconic/objective/add_product.hpp"

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
