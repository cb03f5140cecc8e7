// SPDX-License-Identifier: Apache-2.0
// The squared loss and the constants of ridge regression are those by hand.
#include "laconic/objective/regression.hpp"

#include "support/drawn.hpp"
#include "support/everything.hpp"
#include "support/solvers.hpp"

using laconic::squared_loss;

static_assert(laconic::Loss<squared_loss>);
static_assert(laconic::FusedObjective<laconic::ridge<>> && laconic::SmoothObjective<laconic::ridge<>>);
static_assert(laconic::FusedObjective<laconic::ridge<float>, float>);

TEST_CASE("the squared loss is half a square") {
    CHECK(squared_loss::value_and_slope(3, 1) == std::pair{2.0, 2.0});
    CHECK(squared_loss::value_and_slope(1, 3) == std::pair{2.0, -2.0});
    CHECK(squared_loss::bend(5, 1) == 1);
    CHECK(squared_loss::accepts(-17.5));
    CHECK(!squared_loss::accepts(std::nan("")));
    CHECK(!squared_loss::accepts(std::numeric_limits<double>::infinity()));
}

TEST_CASE("mu of ridge regression by hand") {
    // A'A / N = diag(2, 8), two rows
    laconic::dataset<double> const data{"two", Eigen::MatrixXd{{2, 0}, {0, 4}}.sparseView(), {1, -1}};
    laconic::ridge<> const f(data, 0.5);
    CHECK(f.smoothness() == doctest::Approx(8.5).epsilon(1e-14));
    CHECK(f.strong_convexity() == doctest::Approx(2.5).epsilon(1e-14));

    laconic::ridge<> const fewer_rows_than_features(data.first(1), 0.5);
    CHECK(fewer_rows_than_features.smoothness() == doctest::Approx(4.5).epsilon(1e-14));
    CHECK(fewer_rows_than_features.strong_convexity() == 0.5);
}

// The logistic loss, its slope and its bend are the formula in long double, and overflow nowhere; the Taylor loss
// touches it at 0. Of the nonconvex regression L and mu are reached.

static_assert(Loss<logistic_loss> && Loss<taylor_logistic_loss>);
static_assert(FusedObjective<nonconvex_logistic<>> && SmoothObjective<nonconvex_logistic<float>, float>);
static_assert(FusedObjective<logistic_regression<>> && SmoothObjective<logistic_regression<>>);
static_assert(FusedObjective<logistic_regression<float>, float>);
static_assert(!Objective<logistic_regression<float>, double>);

TEST_CASE("the loss against the formula in long double") {
    for (double y : {-1.0, 1.0})
        for (double z = -40; z <= 40; z += 0.37) {
            CAPTURE(z);
            long double const e = std::exp(-static_cast<long double>(y * z));
            auto const [value, slope] = logistic_loss::value_and_slope(z, y);
            CHECK(value == doctest::Approx(double(std::log1p(e))).epsilon(1e-15).scale(0));
            CHECK(slope == doctest::Approx(double(-y * e / (1 + e))).epsilon(1e-15).scale(0));
            CHECK(logistic_loss::bend(z, y) ==
                  doctest::Approx(double(e / ((1 + e) * (1 + e)))).epsilon(1e-15).scale(0));
            CHECK(logistic_loss::bend(z, y) <= logistic_loss::largest_bend);
        }
    CHECK(logistic_loss::bend(0, 1) == 0.25);
}

TEST_CASE("nothing overflows at the ends") {
    for (double z : {800.0, 1e10, 1e308}) {
        CHECK(logistic_loss::value_and_slope(-z, 1).first == z);
        CHECK(logistic_loss::value_and_slope(z, -1).first == z);
        CHECK(logistic_loss::value_and_slope(z, 1).first == 0);
        CHECK(logistic_loss::value_and_slope(-z, 1).second == -1);
        CHECK(logistic_loss::value_and_slope(z, -1).second == 1);
        CHECK(logistic_loss::value_and_slope(z, 1).second == 0);
        CHECK(logistic_loss::bend(z, 1) == 0);
    }
    CHECK(std::isnan(logistic_loss::value_and_slope(std::nan(""), 1).first));
    CHECK(std::isnan(logistic_loss::value_and_slope(std::nan(""), 1).second));
}

TEST_CASE("the Taylor loss is the logistic loss to the fourth power of z, and its slope is its derivative") {
    for (double const y : {-1., 1.}) {
        CHECK(taylor_logistic_loss::accepts(y));
        for (double z = -.5; z <= .5; z += .125) {
            auto const [value, slope] = taylor_logistic_loss::value_and_slope(z, y);
            double const far = value - logistic_loss::value_and_slope(z, y).first;
            CHECK(far >= -1e-16);
            CHECK(far <= std::pow(z, 4) / 192 + 1e-16);
            CHECK(slope == z / 4 - y / 2);
            auto const at = [&](double u) { return taylor_logistic_loss::value_and_slope(u, y).first; };
            double const by_differences = at(z + .5) - at(z - .5);
            CHECK(slope == doctest::Approx(by_differences).epsilon(1e-12));
        }
    }
    CHECK(taylor_logistic_loss::bend(3, 1) == .25);
    CHECK(!taylor_logistic_loss::accepts(0));
}

TEST_CASE("nonconvex_logistic: value by the definition, gradient by differences") {
    double const lambda = 0.2;
    auto const data = drawn::data(30, 6);
    nonconvex_logistic<> const f(data, lambda);
    logistic_regression<> const plain(data, 0);
    auto const x = drawn::point(6, 1, 2);
    double penalty = 0;
    for (double xi : x) penalty += xi * xi / (1 + xi * xi);
    CHECK(f.value(x) == doctest::Approx(plain.value(x) + lambda * penalty).epsilon(1e-14));
    drawn::gradient_is_true(f, x);
}

TEST_CASE("nonconvex_logistic: L is reached at x = 0, mu where |x_i| = 1 and the data have zeros") {
    double const lambda = 0.2;
    auto data = drawn::data(30, 6);
    for (std::ptrdiff_t j = 0; j < 30; ++j) data.rows.coeffRef(j, 2) = 0;
    nonconvex_logistic<> const f(data, lambda);
    CHECK(f.strong_convexity() == -lambda / 2);

    Eigen::MatrixXd h;
    f.hessian(std::vector<double>(6), h);
    CHECK(solvers::eigenvalue(h, 5) == doctest::Approx(f.smoothness()).epsilon(1e-12));
    for (double side : {1., -1.}) {
        std::vector<double> x(6);
        x[2] = side;
        f.hessian(x, h);
        CHECK(solvers::eigenvalue(h, 0) == doctest::Approx(f.strong_convexity()).epsilon(1e-12));
    }
    for (std::uint64_t n = 0; n < 50; ++n) {
        f.hessian(drawn::point(6, n, 3), h);
        CHECK(solvers::eigenvalue(h, 0) >= f.strong_convexity() - 1e-14);
        CHECK(solvers::eigenvalue(h, 5) <= f.smoothness() + 1e-14);
    }
}
