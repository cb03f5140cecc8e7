// SPDX-License-Identifier: Apache-2.0
// The minimum of f + weight |x|_1 meets its conditions, by hand, against all patterns of signs and on real data.
#include "laconic/objective/composite_optimum.hpp"

#include "support/data.hpp"
#include "support/drawn.hpp"
#include "support/everything.hpp"
#include "support/newton.hpp"
#include "support/solvers.hpp"

double soft(double v, double by) { return std::max(v - by, 0.) - std::max(-v - by, 0.); }

// f(x) = |x - b|^2 / 2, with nothing but the Hessian.
struct around {
    std::vector<double> b;

    std::size_t dimension() const { return b.size(); }
    double value(std::span<double const> x) const {
        double sum = 0;
        for (std::size_t i = 0; i < b.size(); ++i) sum += (x[i] - b[i]) * (x[i] - b[i]) / 2;
        return sum;
    }
    void gradient(std::span<double const> x, std::span<double> g) const {
        for (std::size_t i = 0; i < b.size(); ++i) g[i] = x[i] - b[i];
    }
    void hessian(std::span<double const>, Eigen::MatrixXd& h) const {
        h.setIdentity(std::ptrdiff_t(b.size()), std::ptrdiff_t(b.size()));
    }
};

template <class F>
double largest_slope_at_0(F const& f) {
    double largest = 0;
    for (double gi : drawn::gradient(f, std::vector<double>(f.dimension()))) largest = std::max(largest, std::abs(gi));
    return largest;
}

// Karush, Kuhn and Tucker, for a gradient that is computed here.
template <class F>
std::size_t check_conditions(F const& f, double weight, optimum const& best) {
    auto const g = drawn::gradient(f, best.x);
    double const within = 1e-11 * largest_slope_at_0(f);
    double value = f.value(best.x);
    std::size_t kept = 0;
    for (std::size_t i = 0; i < g.size(); ++i) {
        value += weight * std::abs(best.x[i]);
        kept += best.x[i] != 0;
        if (best.x[i] == 0)
            CHECK(std::abs(g[i]) <= weight + within);
        else
            CHECK(std::abs(g[i] + std::copysign(weight, best.x[i])) <= within);
    }
    CHECK(best.value == doctest::Approx(value).epsilon(1e-14));
    return kept;
}

TEST_CASE("composite_optimum: around b it is the soft threshold of b, with exact zeros") {
    around const f{{3, -2.5, 0.5, -1, 0, 1.25}};
    auto const best = find_composite_optimum(f, 1);
    for (std::size_t i = 0; i < 6; ++i) CHECK(best.x[i] == doctest::Approx(soft(f.b[i], 1)).epsilon(1e-14));
    for (std::size_t i : {2, 3, 4}) CHECK(best.x[i] == 0);
    CHECK(best.value == doctest::Approx((1 + 1 + 0.25 + 1 + 0 + 1) / 2. + 3.75).epsilon(1e-14));
    CHECK(check_conditions(f, 1, best) == 3);
}

TEST_CASE("composite_optimum: where the weight outweighs every slope at 0 nothing moves") {
    ridge<> const f(drawn::data(30, 5), 0);
    auto const best = find_composite_optimum(f, largest_slope_at_0(f));
    CHECK(best.x == std::vector<double>(5));
    CHECK(best.value == f.value(best.x));
    CHECK(best.gradient_norm == 0);
    CHECK(best.iterations == 0);
}

TEST_CASE("composite_optimum: small lassos against all patterns of signs") {
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        auto data = drawn::data(12, 4, 0.8, 2, seed);
        for (std::size_t j = 0; j < 12; ++j) data.labels[j] = 3 * key{seed}.child(9).uniform(j);
        ridge<> const f(data, 0);
        double const weight = 0.3 * largest_slope_at_0(f);
        auto const best = find_composite_optimum(f, weight);
        check_conditions(f, weight, best);

        Eigen::MatrixXd h;
        auto const g0 = drawn::gradient(f, std::vector<double>(4));
        f.hessian(std::vector<double>(4), h);
        double least = f.value(std::vector<double>(4));
        for (int pattern = 1; pattern < 81; ++pattern) {
            std::vector<int> at, sign;
            for (int i = 0, rest = pattern; i < 4; ++i, rest /= 3)
                if (rest % 3) at.push_back(i), sign.push_back(rest % 3 == 1 ? 1 : -1);
            Eigen::VectorXd right(std::ptrdiff_t(at.size()));
            for (std::size_t s = 0; s < at.size(); ++s)
                right[std::ptrdiff_t(s)] = -g0[std::size_t(at[s])] - weight * sign[s];
            Eigen::VectorXd const part = solvers::solution(h(at, at), right);
            std::vector<double> x(4);
            for (std::size_t s = 0; s < at.size(); ++s) x[std::size_t(at[s])] = part[std::ptrdiff_t(s)];
            double value = f.value(x);
            for (double xi : x) value += weight * std::abs(xi);
            least = std::min(least, value);
        }
        CHECK(best.value == doctest::Approx(least).epsilon(1e-13));
    }
}

TEST_CASE("composite_optimum: by products of the Hessian as by the Hessian; weight 0 is no penalty at all") {
    logistic_regression<> const f(drawn::data(60, 12, 0.6), 1e-3);
    double const weight = 0.2 * largest_slope_at_0(f);
    auto const best = find_composite_optimum(f, weight),
               same = find_composite_optimum(newton::products_only{f}, weight);
    CHECK(check_conditions(f, weight, best) == check_conditions(f, weight, same));
    CHECK(best.value == doctest::Approx(same.value).epsilon(1e-14));
    for (std::size_t i = 0; i < 12; ++i) CHECK(std::abs(best.x[i] - same.x[i]) < 1e-9);

    auto const plain = find_optimum(f), free = find_composite_optimum(f, 0);
    CHECK(free.value == doctest::Approx(plain.value).epsilon(1e-14));
    for (std::size_t i = 0; i < 12; ++i) CHECK(std::abs(free.x[i] - plain.x[i]) < 1e-9);
}

TEST_CASE("composite_optimum: more features than rows, and columns that are the same") {
    auto data = drawn::data(10, 40, 0.7);
    for (std::ptrdiff_t j = 0; j < 10; ++j) data.rows.coeffRef(j, 1) = data.rows.coeff(j, 0);
    ridge<> const f(data, 0);
    for (double share : {0.5, 0.1, 0.01}) {
        double const weight = share * largest_slope_at_0(f);
        check_conditions(f, weight, find_composite_optimum(f, weight));
    }
}

TEST_CASE("composite_optimum: real data, from few features to all") {
    auto const housing = test_data("housing");
    if (!housing) return;
    auto australian = *test_data("australian");
    binary_labels(australian);
    auto const check = [](auto const& f, std::size_t most) {
        std::size_t last = 0;
        for (double share : {0.5, 0.1, 0.01, 0.001}) {
            double const weight = share * largest_slope_at_0(f);
            auto const best = find_composite_optimum(f, weight);
            CAPTURE(share);
            CHECK(best.gradient_norm <= 1e-12 * std::sqrt(double(f.dimension())) * largest_slope_at_0(f));
            auto const kept = check_conditions(f, weight, best);
            CHECK(kept >= last);
            last = kept;
        }
        CHECK(last >= most);
    };
    check(ridge<>(*housing, 0), 13);
    check(logistic_regression<>(australian, 0), 3);
}

TEST_CASE("composite_optimum: what has no minimum, or is not finite, is an error; so are weights below 0" *
          doctest::test_suite("slow")) {
    CHECK_THROWS_AS(find_composite_optimum(newton::no_minimum{}, 0.5), error);
    CHECK(find_composite_optimum(newton::no_minimum{}, 3).x[0] == 0);
    around const f{{1, std::nan("")}};
    CHECK_THROWS_AS(find_composite_optimum(f, 0.1), error);
    around const g{{1, 2}};
    double const infinity = std::numeric_limits<double>::infinity();
    for (double weight : {-1., std::nan(""), infinity})
        CHECK_THROWS_AS(find_composite_optimum(g, weight), argument_error);
    for (double tolerance : {0., -1., std::nan(""), infinity})
        CHECK_THROWS_AS(find_composite_optimum(g, 1, tolerance), argument_error);
}
