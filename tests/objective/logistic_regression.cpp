// SPDX-License-Identifier: Apache-2.0
// The logistic loss, its slope and its bend are the formula in long double, and overflow nowhere.
#include "laconic/objective/logistic_regression.hpp"

#include "support/everything.hpp"

using laconic::logistic_loss;

static_assert(laconic::Loss<logistic_loss>);
static_assert(laconic::FusedObjective<laconic::logistic_regression<>> &&
              laconic::SmoothObjective<laconic::logistic_regression<>>);
static_assert(laconic::FusedObjective<laconic::logistic_regression<float>, float>);
static_assert(!laconic::Objective<laconic::logistic_regression<float>, double>);

TEST_CASE("the loss against the formula in long double") {
    for (double y : {-1.0, 1.0})
        for (double z = -40; z <= 40; z += 0.37) {
            CAPTURE(z);
            long double const e = std::exp(-static_cast<long double>(y * z));
            auto const [value, slope] = logistic_loss::value_and_slope(z, y);
            CHECK(value == doctest::Approx(double(std::log1p(e))).epsilon(1e-15));
            CHECK(slope == doctest::Approx(double(-y * e / (1 + e))).epsilon(1e-15));
            CHECK(logistic_loss::value(z, y) == value);
            CHECK(logistic_loss::bend(z, y) == doctest::Approx(double(e / ((1 + e) * (1 + e)))).epsilon(1e-15));
            CHECK(logistic_loss::bend(z, y) <= logistic_loss::largest_bend);
        }
    CHECK(logistic_loss::bend(0, 1) == 0.25);
}

TEST_CASE("nothing overflows at the ends") {
    for (double z : {800.0, 1e10, 1e308}) {
        CHECK(logistic_loss::value(-z, 1) == z);
        CHECK(logistic_loss::value(z, -1) == z);
        CHECK(logistic_loss::value(z, 1) == 0);
        CHECK(logistic_loss::value_and_slope(-z, 1).second == -1);
        CHECK(logistic_loss::value_and_slope(z, -1).second == 1);
        CHECK(logistic_loss::value_and_slope(z, 1).second == 0);
        CHECK(logistic_loss::bend(z, 1) == 0);
    }
    CHECK(std::isnan(logistic_loss::value(std::nan(""), 1)));
    CHECK(std::isnan(logistic_loss::value_and_slope(std::nan(""), 1).second));
}
