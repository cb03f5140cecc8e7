// SPDX-License-Identifier: Apache-2.0
// Newton's method with an l1 penalty reaches the lasso's minimum in a step, meets the conditions of the minimum, agrees
// with another method, and ends where there is no minimum.
#include "laconic/objective/l1_newton.hpp"

#include "support/drawn.hpp"
#include "support/everything.hpp"

// The largest violation of the conditions of the minimum.
double violation(auto const& f, std::vector<double> const& weights, std::vector<double> const& x) {
    auto const g = drawn::gradient(f, x);
    double most = 0;
    for (std::size_t j = 0; j < x.size(); ++j)
        most = std::max(most, x[j] > 0   ? std::abs(g[j] + weights[j])
                              : x[j] < 0 ? std::abs(g[j] - weights[j])
                                         : std::max(std::abs(g[j]) - weights[j], 0.));
    return most;
}

struct counted {
    ridge<> const* f;
    mutable int hessians = 0;
    std::size_t dimension() const { return f->dimension(); }
    double value(std::span<double const> x) const { return f->value(x); }
    void gradient(std::span<double const> x, std::span<double> g) const { f->gradient(x, g); }
    void hessian(std::span<double const> x, Eigen::MatrixXd& h) const {
        ++hessians;
        f->hessian(x, h);
    }
};

TEST_CASE("l1_newton: a quadratic takes one step, with a weight for each coordinate") {
    auto const data = drawn::data(60, 6);
    ridge<> const f(data, 0);
    counted const c{&f};
    std::vector<double> const weights{0, 0.1, 0.05, 10, 0.2, 0};
    std::vector<double> x(6, 0.3);
    double const reached = l1_newton(c, weights, x);
    CHECK(c.hessians <= 2);  // the second shows that there is nothing left
    CHECK(violation(f, weights, x) < 1e-13);
    CHECK(x[3] == 0);
    double penalty = 0;
    for (std::size_t j = 0; j < 6; ++j) penalty += weights[j] * std::abs(x[j]);
    CHECK(reached == f.value(x) + penalty);
}

TEST_CASE("l1_newton: logistic regression, against find_composite_optimum") {
    logistic_regression<> const f(drawn::data(80, 7), 0);
    for (double const weight : {0.001, 0.02, 0.1, 5.}) {
        auto const known = find_composite_optimum(f, weight);
        std::vector<double> x(7);
        double const reached = l1_newton(f, std::vector<double>(7, weight), x);
        CHECK(reached == doctest::Approx(known.value).epsilon(1e-13));
        for (std::size_t j = 0; j < 7; ++j) CHECK(std::abs(x[j] - known.x[j]) < 1e-7);
        CHECK(violation(f, std::vector<double>(7, weight), x) < 1e-7);
    }
}

TEST_CASE("l1_newton: it ends without a minimum, and where F is not finite nothing moves") {
    auto data = drawn::data(3, 3, 1, 2);
    logistic_regression<> const separable(data, 0);  // three rows, three coordinates
    std::vector<double> x(3);
    double const reached = l1_newton(separable, std::vector<double>(3), x);
    CHECK(reached < 1e-6);
    CHECK(reached >= 0);
    std::vector<double> bad{std::nan(""), 1, 2};
    CHECK(std::isnan(l1_newton(separable, std::vector<double>(3), bad)));
    CHECK(bad[1] == 1);
}

TEST_CASE("l1_newton: a coordinate on which nothing depends becomes 0 where it costs something") {
    ridge<> const f({"flat", Eigen::MatrixXd{{1, 0, 0}, {1, 0, 0}}.sparseView(), {1, 2}}, 0);
    std::vector<double> x{0, 7, 7};
    l1_newton(f, std::vector<double>{0, 0.5, 0}, x);
    CHECK(x[0] == doctest::Approx(1.5).epsilon(1e-15));
    CHECK(x[1] == 0);
    CHECK(x[2] == 7);
}
