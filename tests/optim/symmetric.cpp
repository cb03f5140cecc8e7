// SPDX-License-Identifier: Apache-2.0
// A symmetric matrix as a vector keeps its norm, and comes back; one that is not symmetric comes back as the nearest.
#include "laconic/optim/symmetric.hpp"

#include "support/everything.hpp"

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
