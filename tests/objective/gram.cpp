// SPDX-License-Identifier: Apache-2.0
// The weighted Gram matrix is that of dense algebra, for sparse and dense rows of any count.
#include "laconic/objective/gram.hpp"

#include <Eigen/Dense>

#include "support/everything.hpp"

template <class T>
Eigen::SparseMatrix<T, Eigen::RowMajor, std::int64_t> random_rows(std::ptrdiff_t n, std::ptrdiff_t d, double density) {
    Eigen::SparseMatrix<T, Eigen::RowMajor, std::int64_t> rows(n, d);
    laconic::key const seed{11};
    std::uint64_t drawn = 0;
    for (std::ptrdiff_t j = 0; j < n; ++j)
        for (std::ptrdiff_t i = 0; i < d; ++i)
            if (seed.uniform(drawn++) < density) rows.insert(j, i) = T(seed.child(1).uniform(drawn)) - T(0.5);
    rows.makeCompressed();
    return rows;
}

template <class T>
void check(std::ptrdiff_t n, std::ptrdiff_t d, double density) {
    CAPTURE(n);
    CAPTURE(density);
    auto const rows = random_rows<T>(n, d, density);
    std::size_t weights_taken = 0;
    auto const weight = [&](std::size_t j) {
        CHECK(j == weights_taken++);
        return j % 5 == 0 ? 0.0 : 1 / double(j);
    };
    Eigen::MatrixXd out = Eigen::MatrixXd::Constant(2, 7, 99);
    laconic::weighted_gram(rows, weight, out);
    CHECK(weights_taken == std::size_t(n));

    Eigen::MatrixXd const dense = Eigen::MatrixXd(rows.template cast<double>());
    Eigen::VectorXd weights(n);
    for (std::ptrdiff_t j = 0; j < n; ++j) weights[j] = j % 5 == 0 ? 0.0 : 1 / double(j);
    Eigen::MatrixXd const expected = dense.transpose() * weights.asDiagonal() * dense;
    REQUIRE(out.rows() == d);
    CHECK((out - expected).norm() <= 1e-14 * (1 + expected.norm()));
    CHECK(out == Eigen::MatrixXd(out.transpose()));
}

TEST_CASE("the weighted Gram matrix of sparse and dense rows, fewer and more than a block") {
    for (double density : {0.0, 0.02, 0.2, 0.5, 1.0})
        for (std::ptrdiff_t n : {1, 7, 255, 256, 257, 700}) {
            check<double>(n, 30, density);
            check<float>(n, 30, density);
        }
    check<double>(3, 1, 1);
}
