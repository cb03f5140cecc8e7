// SPDX-License-Identifier: Apache-2.0
// Pivots of an LDL' are Schur complements, of indefinite matrices too; rows may be left out; solutions solve.
#include "laconic/optim/ldlt.hpp"

#include "support/det6.hpp"
#include "support/everything.hpp"
#include "support/solvers.hpp"

Eigen::MatrixXd symmetric(Eigen::Index n, std::uint64_t seed) {
    Eigen::MatrixXd a(n, n);
    for (Eigen::Index i = 0; i < n * n; ++i) a.data()[i] = key{seed}.uniform(std::uint64_t(i)) - .5;
    return a + a.transpose().eval();
}
std::vector<double> row_of(Eigen::MatrixXd const& a, Eigen::Index i) {
    return {a.col(i).data(), a.col(i).data() + i + 1};
}

TEST_CASE("T3.2: pivots of S'HS on DET6 are the known numbers") {
    auto const s = det6::directions();
    Eigen::MatrixXd const m = s.transpose() * det6::objective::of_all().h * s;
    ldlt factors;
    factors.start(4);
    for (Eigen::Index j = 0; j < 4; ++j) {
        factors.look(row_of(m, j));
        factors.keep();
    }
    double const known[] = {32.777211046440286, 15.406103843726886, 10.513233281483899, 4.467099860545984};
    for (std::size_t j = 0; j < 4; ++j) CHECK(factors.pivots()[j] == doctest::Approx(known[j]).epsilon(1e-13));
}

TEST_CASE("ldlt: pivots are Schur complements, their magnitudes are what they are the difference of") {
    auto const a = symmetric(7, 3);
    ldlt factors;
    factors.start(7);
    int negative = 0;
    for (Eigen::Index j = 0; j < 7; ++j) {
        auto const p = factors.look(row_of(a, j));
        double subtracted = 0;
        if (j > 0) {
            Eigen::VectorXd const u = a.col(j).head(j);
            subtracted = u.dot(solvers::solution(a.topLeftCorner(j, j), u));
        }
        CHECK(p.value == doctest::Approx(a(j, j) - subtracted).epsilon(1e-11));
        CHECK(p.magnitude >= std::abs(a(j, j)) + std::abs(subtracted) - 1e-10);
        negative += p.value < 0;
        factors.keep();
    }
    CHECK(factors.size() == 7);
    CHECK(negative > 0);
    CHECK(negative < 7);
    std::vector<double> b(7, 1.);
    factors.solve(b);
    Eigen::Map<Eigen::VectorXd const> const x(b.data(), 7);
    CHECK((a * x - Eigen::VectorXd::Ones(7)).norm() < 1e-12);
}

TEST_CASE("ldlt: a row that is looked at and left out changes nothing") {
    auto const a = symmetric(4, 5);
    ldlt factors;
    factors.start(4);
    for (Eigen::Index j : {0, 2, 3}) {
        if (j == 2) factors.look(std::vector<double>{a(0, 1), a(1, 1)});
        std::vector<double> row{a(0, j)};
        if (j == 3) row.push_back(a(2, 3));
        if (j > 0) row.push_back(a(j, j));
        factors.look(row);
        factors.keep();
    }
    Eigen::MatrixXd kept(3, 3);
    Eigen::Index const of[] = {0, 2, 3};
    for (Eigen::Index i = 0; i < 3; ++i)
        for (Eigen::Index j = 0; j < 3; ++j) kept(i, j) = a(of[i], of[j]);
    std::vector<double> b{1, 2, 3};
    factors.solve(b);
    CHECK((kept * Eigen::Map<Eigen::VectorXd const>(b.data(), 3) - Eigen::Vector3d(1, 2, 3)).norm() < 1e-12);
    factors.start(2);
    CHECK(factors.size() == 0);
}

TEST_CASE("ldlt: by hand") {
    ldlt factors;
    factors.start(2);
    CHECK(factors.look(std::vector<double>{4}).value == 4);
    factors.keep();
    auto const p = factors.look(std::vector<double>{2, -1});
    CHECK(p.value == -2);
    CHECK(p.magnitude == 2);
    factors.keep();
    std::vector<double> b{8, 2};  // 4 x + 2 y = 8, 2 x - y = 2
    factors.solve(b);
    CHECK(b == std::vector<double>{1.5, 1});
}
