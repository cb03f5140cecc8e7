// SPDX-License-Identifier: Apache-2.0
// A perceptron's parameters stand in its vector where they should; products in tiles are products.
#include "laconic/objective/perceptron_parts.hpp"

#include <doctest/doctest.h>

#include <numeric>
#include <vector>

using namespace laconic;

TEST_CASE("perceptron_parts: two matrices row after row, each with its bias behind it") {
    std::vector<double> x(3 * 2 + 3 + 4 * 3 + 4);
    std::iota(x.begin(), x.end(), 0.);
    auto const parts = detail::perceptron_parts(std::span<double const>(x), 2, 3, 4);
    CHECK(parts.first(1, 1) == 3);
    CHECK(parts.first_bias(2) == 8);
    CHECK(parts.second(2, 1) == 9 + 7);
    CHECK(parts.second_bias(3) == 24);
    auto writable = detail::perceptron_parts(std::span<double>(x), 2, 3, 4);
    writable.second_bias(3) = -1;
    CHECK(x.back() == -1);
}

TEST_CASE("perceptron_parts: a product in tiles is the product, added") {
    Eigen::MatrixXd const a = Eigen::MatrixXd::Random(70, 300), b = Eigen::MatrixXd::Random(300, 90);
    Eigen::MatrixXd sum = Eigen::MatrixXd::Ones(70, 90);
    detail::add_product(sum, a, b);
    CHECK((sum - Eigen::MatrixXd::Ones(70, 90) - a * b).cwiseAbs().maxCoeff() < 1e-12);
}

TEST_CASE("perceptron_parts: aligned numbers begin at a multiple of 64 bytes") {
    std::vector<float> room;
    for (std::size_t n : {1u, 7u, 100u}) {
        auto const x = detail::aligned(room, n);
        CHECK(x.size() == n);
        CHECK(reinterpret_cast<std::uintptr_t>(x.data()) % 64 == 0);
    }
}
