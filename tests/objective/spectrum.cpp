// SPDX-License-Identifier: Apache-2.0
// The weighted Gram matrix is that of dense algebra, for sparse and dense rows of any count.
#include "laconic/objective/spectrum.hpp"

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

// The extreme eigenvalues are Eigen's for any size, rank and spectrum, in few products and the same bits again.

struct counting_product {
    Eigen::MatrixXd const& matrix;
    int times = 0;

    void operator()(std::span<double const> v, std::span<double> out) {
        ++times;
        Eigen::Map<Eigen::VectorXd>(out.data(), std::ptrdiff_t(out.size())) =
            matrix * Eigen::Map<Eigen::VectorXd const>(v.data(), std::ptrdiff_t(v.size()));
    }
};

Eigen::MatrixXd random_matrix(Eigen::Index rows, Eigen::Index columns, std::uint64_t seed) {
    Eigen::MatrixXd m(rows, columns);
    for (Eigen::Index i = 0; i < m.size(); ++i) m.data()[i] = laconic::key{seed}.uniform(std::uint64_t(i)) - 0.5;
    return m;
}

// A symmetric matrix with these eigenvalues and random eigenvectors.
Eigen::MatrixXd with_eigenvalues(Eigen::VectorXd const& values, std::uint64_t seed) {
    auto const n = values.size();
    Eigen::MatrixXd const q = Eigen::HouseholderQR<Eigen::MatrixXd>(random_matrix(n, n, seed)).householderQ();
    return q * values.asDiagonal() * q.transpose();
}

double largest(Eigen::MatrixXd const& m) {
    return laconic::largest_eigenvalue(std::size_t(m.rows()), counting_product{m});
}

TEST_CASE("the largest eigenvalue of matrices small and large, of full and of low rank") {
    for (Eigen::Index n : {1, 2, 3, 10, 63, 64, 65, 66, 200})
        for (Eigen::Index rank : {Eigen::Index{1}, n / 2 + 1, n}) {
            CAPTURE(n);
            CAPTURE(rank);
            auto const a = random_matrix(rank, n, 5);
            Eigen::MatrixXd const m = a.transpose() * a;
            double const expected = Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>(m).eigenvalues()[n - 1];
            CHECK(largest(m) == doctest::Approx(expected).epsilon(1e-13));
        }
}

TEST_CASE("hard spectra: a cluster at the top, a tiny gap, all alike") {
    Eigen::VectorXd values = Eigen::VectorXd::LinSpaced(300, 0, 1);
    CHECK(largest(with_eigenvalues(values, 1)) == doctest::Approx(1).epsilon(1e-13));
    values.tail(20).setConstant(1);
    CHECK(largest(with_eigenvalues(values, 2)) == doctest::Approx(1).epsilon(1e-13));
    values[299] = 1 + 1e-6;
    CHECK(largest(with_eigenvalues(values, 3)) == doctest::Approx(1 + 1e-6).epsilon(1e-13));
    values.setConstant(3);
    CHECK(largest(with_eigenvalues(values, 4)) == doctest::Approx(3).epsilon(1e-13));
    values = Eigen::VectorXd::LinSpaced(300, 0, 1).array().pow(8) * 1e-200;
    CHECK(largest(with_eigenvalues(values, 5)) == doctest::Approx(1e-200).epsilon(1e-13).scale(0));
}

TEST_CASE("few applications where one eigenvalue stands out, and the same bits again") {
    Eigen::VectorXd values = Eigen::VectorXd::LinSpaced(400, 0, 1);
    values[399] = 10;
    auto const m = with_eigenvalues(values, 6);
    counting_product counted{m};
    double const first = laconic::largest_eigenvalue(400, counted);
    CHECK(first == doctest::Approx(10).epsilon(1e-13));
    counting_product copy{m};
    auto& reference = copy;
    CHECK(laconic::largest_eigenvalue(400, reference) == first);
    CHECK(copy.times > 1);
    CHECK(copy.times < 25);
    CHECK(counted.times == copy.times);
}

TEST_CASE("zero is zero, and what is not finite is refused") {
    CHECK(largest(Eigen::MatrixXd::Zero(5, 5)) == 0);
    CHECK(largest(Eigen::MatrixXd::Zero(1, 1)) == 0);
    Eigen::MatrixXd m = Eigen::MatrixXd::Identity(80, 80);
    m(3, 4) = std::numeric_limits<double>::quiet_NaN();
    CHECK_THROWS_AS(largest(m), laconic::error);
}

TEST_CASE("the smallest eigenvalue") {
    auto const m = with_eigenvalues(Eigen::VectorXd::LinSpaced(50, 0.25, 8), 7);
    CHECK(laconic::smallest_eigenvalue(m) == doctest::Approx(0.25).epsilon(1e-13));
    Eigen::MatrixXd lower = m.triangularView<Eigen::Lower>();
    CHECK(laconic::smallest_eigenvalue(lower) == laconic::smallest_eigenvalue(m));
}
