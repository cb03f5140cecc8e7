// SPDX-License-Identifier: Apache-2.0
// Local subproblems: the exact minimum has no gradient left, Adam comes near it; both show what is not finite, and what
// they remember waits for commit().
#include "laconic/estimate/local_solver.hpp"

#include <Eigen/Dense>

#include "support/everything.hpp"
#include "support/states.hpp"

dataset<double> some_rows(std::size_t rows, std::size_t features, bool signs) {
    dataset<double> data{"drawn", dataset<double>::matrix(std::ptrdiff_t(rows), std::ptrdiff_t(features)), {}};
    for (std::size_t j = 0; j < rows; ++j) {
        for (std::size_t i = 0; i < features; ++i)
            data.rows.insert(std::ptrdiff_t(j), std::ptrdiff_t(i)) = key{5}.uniform(j * features + i) * 2 - 1;
        double const label = key{6}.uniform(j) * 2 - 1;
        data.labels.push_back(!signs ? label : label < 0 ? -1 : 1);
    }
    data.rows.makeCompressed();
    return data;
}
static_assert(ridge<>::constant_hessian && !logistic_regression<>::constant_hessian);
static_assert(LocalSolver<exact_minimum, ridge<>> && LocalSolver<adam_steps, ridge<>>);
static_assert(LocalSolver<exact_minimum, ridge<float>, float>);

// The largest number of the gradient of f(y) + v . y + (c / 2) |y|^2.
double left_over(auto const& f, double c, std::vector<double> const& v, std::vector<double> const& y) {
    std::vector<double> g(y.size());
    f.gradient(y, g);
    double most = 0;
    for (std::size_t j = 0; j < y.size(); ++j) most = std::max(most, std::abs(g[j] + v[j] + c * y[j]));
    return most;
}
std::vector<double> const pull{.3, -.2, 1, .5};

struct nan_at {  // its gradient is not finite at coordinate 2
    std::size_t dimension() const { return 4; }
    double value(std::span<double const>) const { return 0; }
    void gradient(std::span<double const> x, std::span<double> g) const {
        for (std::size_t j = 0; j < x.size(); ++j) g[j] = j == 2 ? std::numeric_limits<double>::quiet_NaN() : x[j];
    }
    void hessian(std::span<double const>, Eigen::MatrixXd& h) const { h.setIdentity(4, 4); }
};

TEST_CASE("the exact minimum of a ridge regression, for one weight after the other") {
    host on;
    ridge<> const f(some_rows(12, 4, false), .01);
    auto solver = exact_minimum{}.make<double>(4);
    std::vector<double> y(4);
    for (double const c : {1., .25, 1., 1e-6, .25}) {
        solver.solve(on, f, c, std::span<double const>(pull), {}, std::span(y));
        CHECK(left_over(f, c, pull, y) < 1e-13);
    }
}

TEST_CASE("the exact minimum of a logistic regression, from near and far") {
    host on;
    logistic_regression<> const f(some_rows(12, 4, true), 1e-3);
    auto solver = exact_minimum{}.make<double>(4);
    for (double const start : {0., 1., 300.})
        for (double const c : {0., 1e-3, 2.}) {
            std::vector<double> y(4, start);
            solver.solve(on, f, c, std::span<double const>(std::vector<double>(4)), {}, std::span(y));
            CHECK(left_over(f, c, std::vector<double>(4), y) < 1e-13);
        }
    std::vector<double> y(4);
    CHECK_THROWS_AS(exact_minimum{1}.make<double>(4).solve(on, f, 1, std::span<double const>(pull), {}, std::span(y)),
                    error);
}

TEST_CASE("a minimum at zero") {
    host on;
    auto data = some_rows(6, 4, true);  // each row once with either label
    auto twice = some_rows(12, 4, true);
    for (std::ptrdiff_t j = 0; j < 6; ++j) {
        for (std::ptrdiff_t i = 0; i < 4; ++i)
            twice.rows.coeffRef(j, i) = twice.rows.coeffRef(j + 6, i) = data.rows.coeff(j, i);
        twice.labels[std::size_t(j)] = 1, twice.labels[std::size_t(j) + 6] = -1;
    }
    logistic_regression<> const f(twice, 1e-3);
    std::vector<double> y{1, -1, 2, 3};
    exact_minimum{}.make<double>(4).solve(on, f, .1, std::span<double const>(std::vector<double>(4)), {}, std::span(y));
    for (double const v : y) CHECK(std::abs(v) < 1e-14);
}

TEST_CASE("at a minimum with a value of 0, as sums of larger numbers have it, the solver comes to rest") {
    host on;
    int solved = 0;
    for (std::uint64_t seed = 0; seed < 12; ++seed) {
        auto data = some_rows(30, 6, true);
        for (std::ptrdiff_t j = 0; j < 30; ++j) data.rows.coeffRef(j, 0) *= 30;
        logistic_regression<> const f(data, 1e-3);
        std::vector<double> best(6), v(6);
        for (std::size_t j = 0; j < 6; ++j) best[j] = key{seed}.uniform(j) * 2 - 1;
        f.gradient(best, v);
        double value = f.value(best), square = 0;
        for (std::size_t j = 0; j < 6; ++j) value -= v[j] * best[j], square += best[j] * best[j];
        double const c = 2 * value / square;
        if (!(c > 0)) continue;
        ++solved;
        for (std::size_t j = 0; j < 6; ++j) v[j] = -v[j] - c * best[j];
        auto solver = exact_minimum{}.make<double>(6);
        auto y = best;
        for (int again = 0; again < 10; ++again) {
            solver.solve(on, f, c, std::span<double const>(v), {}, std::span(y));
            for (std::size_t j = 0; j < 6; ++j) CHECK(std::abs(y[j] - best[j]) < 1e-12);
            for (double& each : y) each *= 1 + 1e-14;
        }
    }
    CHECK(solved >= 6);
}

// x^4 whose value is NaN where |x| is at least that.
struct value_is_nan {
    double from;
    std::size_t dimension() const { return 1; }
    double value(std::span<double const> x) const {
        return std::abs(x[0]) >= from ? std::numeric_limits<double>::quiet_NaN() : std::pow(x[0], 4);
    }
    void gradient(std::span<double const> x, std::span<double> g) const { g[0] = 4 * std::pow(x[0], 3); }
    void hessian(std::span<double const> x, Eigen::MatrixXd& h) const { h.setConstant(1, 1, 12 * x[0] * x[0]); }
};

TEST_CASE("a value that is not finite is an error, at the start and in every step; a wall is none") {
    host on;
    auto const solve = [&](double from, double start, double pulled) {
        std::vector<double> y{start}, v{pulled};
        exact_minimum{}.make<double>(1).solve(on, value_is_nan{from}, 1, std::span<double const>(v), {}, std::span(y));
        return y[0];
    };
    CHECK_THROWS_WITH_AS(solve(1, 2, 0), "the value of the local objective is not finite", error);
    CHECK_THROWS_WITH_AS(solve(0x1p-20, std::nextafter(0x1p-20, 0), -1e3),
                         "the value of the local objective is not finite beside a point where it is", error);
    CHECK(solve(4, .1, -10) == doctest::Approx(1.29585).epsilon(1e-5));  // the first step would leap over the wall
}

TEST_CASE("what has no strict minimum is an error") {
    host on;
    ridge<> const f(some_rows(2, 4, false), 0);
    std::vector<double> y(4);
    auto solver = exact_minimum{}.make<double>(4);
    CHECK_THROWS_WITH_AS(solver.solve(on, f, -1, std::span<double const>(pull), {}, std::span(y)),
                         "the local objective is not strictly convex: its Hessian has no Cholesky factors", error);
    for (int again = 0; again < 3; ++again)  // factors that failed are not kept
        CHECK_THROWS_AS(solver.solve(on, f, -1, std::span<double const>(pull), {}, std::span(y)), error);
}

TEST_CASE("a Hessian that is not finite is an error") {
    struct bent {
        std::size_t dimension() const { return 4; }
        double value(std::span<double const> x) const { return x[0] * x[0]; }
        void gradient(std::span<double const> x, std::span<double> g) const {
            std::fill(g.begin(), g.end(), 0.0);
            g[0] = 2 * x[0];
        }
        void hessian(std::span<double const>, Eigen::MatrixXd& h) const {
            h.setIdentity(4, 4);
            h(0, 0) = std::nan("");
        }
    };
    host on;
    std::vector<double> y(4, 1.0);
    auto solver = exact_minimum{}.make<double>(4);
    CHECK_THROWS_WITH_AS(solver.solve(on, bent{}, 1, std::span<double const>(pull), {}, std::span(y)),
                         "the Hessian of the local objective is not finite", error);
}

TEST_CASE("steps of Adam come near the minimum; without commit() the next solve starts from the same moments") {
    host on;
    ridge<> const f(some_rows(12, 4, false), .01);
    auto solver = adam_steps{50, .02}.make<double>(4);
    std::vector<double> y(4);
    double first = 0;
    for (int k = 0; k < 40; ++k) {
        auto again = y;
        solver.solve(on, f, 1, std::span<double const>(pull), {}, std::span(again));
        solver.solve(on, f, 1, std::span<double const>(pull), {}, std::span(y));
        CHECK(y == again);
        solver.commit();
        if (k == 0) first = left_over(f, 1, pull, y);
    }
    CHECK(left_over(f, 1, pull, y) < 1e-3 * first);

    auto other = adam_steps{50, .02}.make<double>(4);
    restore_from(solver, other);
    auto z = y;
    solver.solve(on, f, 1, std::span<double const>(pull), {}, std::span(y));
    other.solve(on, f, 1, std::span<double const>(pull), {}, std::span(z));
    CHECK(y == z);
}

TEST_CASE("a gradient that is not finite shows at its coordinate") {
    host on;
    auto const shown = [&](auto solver) {
        std::vector<double> y(4);
        solver.solve(on, nan_at{}, 1, std::span<double const>(pull), {}, std::span(y));
        return first_non_finite(on, std::span<double const>(y));
    };
    CHECK(shown(exact_minimum{}.make<double>(4)) == 2);
    CHECK(shown(adam_steps{}.make<double>(4)) == 2);
}
