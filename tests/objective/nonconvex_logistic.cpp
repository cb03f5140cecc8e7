// SPDX-License-Identifier: Apache-2.0
// Its value is the definition, its derivatives those of differences, and L and mu are reached.
#include "laconic/objective/nonconvex_logistic.hpp"

#include "support/drawn.hpp"
#include "support/everything.hpp"
#include "support/solvers.hpp"

using namespace laconic;

static_assert(FusedObjective<nonconvex_logistic<>> && SmoothObjective<nonconvex_logistic<float>, float>);

TEST_CASE("nonconvex_logistic: value by the definition, gradient and Hessian by differences") {
    double const lambda = 0.2;
    auto const data = drawn::data(30, 6);
    nonconvex_logistic<> const f(data, lambda);
    logistic_regression<> const plain(data, 0);
    auto const x = drawn::point(6, 1, 2), v = drawn::point(6, 2);
    double penalty = 0;
    for (double xi : x) penalty += xi * xi / (1 + xi * xi);
    CHECK(f.value(x) == doctest::Approx(plain.value(x) + lambda * penalty).epsilon(1e-14));
    drawn::gradient_is_true(f, x);
    drawn::products_are_true(f, x, v);

    Eigen::MatrixXd h;
    std::vector<double> product(6);
    f.hessian(x, h);
    f.hessian_times(x, v, product);
    for (std::ptrdiff_t i = 0; i < 6; ++i) {
        double sum = 0;
        for (std::ptrdiff_t k = 0; k < 6; ++k) sum += h(i, k) * v[std::size_t(k)];
        CHECK(product[std::size_t(i)] == doctest::Approx(sum).epsilon(1e-13));
    }
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
