// SPDX-License-Identifier: Apache-2.0
// A symmetric matrix as a vector keeps its norm, and comes back; one that is not symmetric comes back as the nearest.
#include "laconic/optim/symmetric.hpp"

#include "support/everything.hpp"
#include "support/solvers.hpp"

Eigen::MatrixXd example() {
    Eigen::MatrixXd m(3, 3);
    m << 1, 2, 3, 2, 4, 5, 3, 5, 6;
    return m;
}

TEST_CASE("symmetric: packed and unpacked, with the Frobenius norm") {
    for (auto const how : {symmetric_as::triangle, symmetric_as::whole}) {
        std::vector<double> v(symmetric_size(how, 3));
        CHECK(v.size() == (how == symmetric_as::whole ? 9 : 6));
        pack_symmetric(how, 3, example(), std::span<double>(v));
        CHECK(Eigen::Map<Eigen::VectorXd>(v.data(), Eigen::Index(v.size())).norm() ==
              doctest::Approx(example().norm()).epsilon(1e-15));
        Eigen::MatrixXd back = Eigen::MatrixXd::Zero(3, 3);
        unpack_symmetric(how, 3, std::span<double const>(v), back);
        CHECK((back - example()).cwiseAbs().maxCoeff() < 1e-14);
    }
}

TEST_CASE("symmetric: the orders, by hand; the upper triangle is not read") {
    Eigen::MatrixXd m = example();
    m(0, 1) = m(0, 2) = m(1, 2) = 77;
    std::vector<float> triangle(6), whole(9);
    pack_symmetric(symmetric_as::triangle, 3, m, std::span<float>(triangle));
    float const r = float(std::numbers::sqrt2);
    CHECK(triangle == std::vector<float>{1, 2 * r, 4, 3 * r, 5 * r, 6});
    pack_symmetric(symmetric_as::whole, 3, m, std::span<float>(whole));
    CHECK(whole == std::vector<float>{1, 2, 3, 2, 4, 5, 3, 5, 6});
    std::vector<double> const lopsided{1, 4, 2, 1};
    Eigen::MatrixXd near(2, 2);
    unpack_symmetric(symmetric_as::whole, 2, std::span<double const>(lopsided), near);
    CHECK(near(0, 1) == 3);
    CHECK(near(1, 0) == 3);
    CHECK(words_of(symmetric_as::whole)[1] == "whole");
}

// Newton's step with a matrix that is projected or lifted is that of its definition, by either way to compute it.

// Eigenvalues 3 and e, along (3, 4) / 5 and (-4, 3) / 5.
Eigen::MatrixXd with_eigenvalue(double e) {
    Eigen::Vector2d const a(.6, .8), b(-.8, .6);
    return 3 * a * a.transpose() + e * b * b.transpose();
}
std::vector<double> solved(Eigen::MatrixXd const& m, definite_by how, double number, bool expected = true) {
    newton_step solve;
    std::vector<double> step{3, 4};
    step[0] += -.8, step[1] += .6;  // 5 a + b
    CHECK(solve(m, how, number, step) == expected);
    return {.6 * step[0] + .8 * step[1], -.8 * step[0] + .6 * step[1]};
}

TEST_CASE("newton_step: a projection raises what is below, and only that") {
    for (double const e : {-2., .1, .5, 2.}) {
        CAPTURE(e);
        auto const along = solved(with_eigenvalue(e), definite_by::projection, .5);
        CHECK(along[0] == doctest::Approx(5 / 3.).epsilon(1e-13));
        CHECK(along[1] == doctest::Approx(1 / std::max(e, .5)).epsilon(1e-13));
    }
}

TEST_CASE("newton_step: a lift adds to all, and fails where that is not enough") {
    auto const along = solved(with_eigenvalue(-2), definite_by::lift, 4);
    CHECK(along[0] == doctest::Approx(5 / 7.).epsilon(1e-13));
    CHECK(along[1] == doctest::Approx(1 / 2.).epsilon(1e-13));
    auto const unchanged = solved(with_eigenvalue(-2), definite_by::lift, 1.5, false);
    CHECK(unchanged[0] == doctest::Approx(5).epsilon(1e-13));
    CHECK(words_of(definite_by::lift)[0] == "projection");
}
