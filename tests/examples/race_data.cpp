// SPDX-License-Identifier: Apache-2.0
// The synthetic data of race follow their seed and recipe, and any other name is that of a LIBSVM file.
#include "common/race_data.hpp"

#include "laconic/core/error.hpp"
#include "support/own_file.hpp"
#include "support/test.hpp"

double at(laconic::dataset<double> const& data, std::ptrdiff_t j, std::ptrdiff_t i) { return data.rows.coeff(j, i); }

TEST_CASE("race_data: the synthetic rows are the seed's own, whole, of both classes, and of falling scale") {
    auto const data = race::load("synthetic", 3), other = race::load("synthetic", 4);
    REQUIRE(data.rows.rows() == 4000);
    REQUIRE(data.rows.cols() == 200);
    CHECK(data.rows.nonZeros() == 4000 * 200);
    CHECK((data.rows - other.rows).norm() > 1);
    CHECK(data.labels != other.labels);
    auto const positive = std::count(data.labels.begin(), data.labels.end(), 1);
    CHECK(positive + std::count(data.labels.begin(), data.labels.end(), -1) == 4000);
    CHECK(positive > 1000);
    CHECK(positive < 3000);
    // Feature i is a normal number and its block's mean, each over sqrt(1 + i): of the mean square 2 / (1 + i).
    for (std::ptrdiff_t const i : {0, 9, 199}) {
        double square = 0;
        for (std::ptrdiff_t j = 0; j < 4000; ++j) square += at(data, j, i) * at(data, j, i) / 4000;
        CHECK(square * (1. + double(i)) > 1.2);
        CHECK(square * (1. + double(i)) < 4);
    }
    // A block of 200 rows has one mean: there the rows' own numbers are left, of variance 1 / (1 + i).
    double mean = 0, square = 0;
    for (std::ptrdiff_t j = 200; j < 400; ++j) mean += at(data, j, 0) / 200;
    for (std::ptrdiff_t j = 200; j < 400; ++j) square += (at(data, j, 0) - mean) * (at(data, j, 0) - mean) / 200;
    CHECK(square == doctest::Approx(1).epsilon(0.4).scale(0));
}

TEST_CASE("race_data: any other name is that of a LIBSVM file, and mistakes in it are named by their place") {
    own_file const file("1 1:0.5 3:-2\n-1 2:4\n");
    auto const data = race::load(file.path(), 0);
    CHECK(data.rows.rows() == 2);
    CHECK(data.rows.cols() == 3);
    CHECK(at(data, 0, 0) == 0.5);
    CHECK(at(data, 0, 2) == -2);
    CHECK(at(data, 1, 1) == 4);
    CHECK(data.labels == std::vector<double>{1, -1});
    file.write("1 1:0.5\n-1 2;4\n");
    CHECK_THROWS_WITH_AS(race::load(file.path(), 0), doctest::Contains((file.path() + ":2:").c_str()),
                         laconic::file_error);
    CHECK_THROWS_WITH_AS(race::load("nosuchfile", 0), doctest::Contains("nosuchfile: No such file"),
                         laconic::file_error);
}
