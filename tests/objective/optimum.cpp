// SPDX-License-Identifier: Apache-2.0
// find_optimum reaches the minimum by Newton's steps or products, also of hard functions, as optima.json has it.
#include "laconic/objective/optimum.hpp"

#include <nlohmann/json.hpp>

#include "decentralized/bowl.hpp"
#include "support/data.hpp"
#include "support/drawn.hpp"
#include "support/everything.hpp"
#include "support/toys.hpp"
#include "support/newton.hpp"
#include "support/solvers.hpp"

// f(x) = sqrt(1 + (x - 30)^2): a full Newton step from 0 throws it far away.
struct far_away {
    std::size_t dimension() const { return 1; }
    double value(std::span<double const> x) const { return std::hypot(1, x[0] - 30); }
    void gradient(std::span<double const> x, std::span<double> g) const { g[0] = (x[0] - 30) / value(x); }
    void hessian(std::span<double const> x, Eigen::MatrixXd& h) const { h.setConstant(1, 1, std::pow(value(x), -3)); }
};

struct not_a_number {
    std::size_t dimension() const { return 2; }
    double value(std::span<double const>) const { return std::nan(""); }
    void gradient(std::span<double const>, std::span<double> g) const { g[0] = g[1] = std::nan(""); }
    void hessian(std::span<double const>, Eigen::MatrixXd& h) const { h.setIdentity(2, 2); }
};

struct reference_optimum {
    nlohmann::json const& entry;

    double operator[](char const* name) const { return entry[name].get<double>(); }

    void check(auto const& f) const {
        auto const found = laconic::find_optimum(f, 0);
        double const f_star = (*this)["f_star"];
        CHECK(found.value == doctest::Approx(f_star).epsilon(1e-12));
        CHECK(found.value == f.value(found.x));
        CHECK(found.gradient_norm <= 1e-13);
        CHECK(found.iterations <= 40);

        // Two points with small gradients are close: |x - y| <= (|grad f(x)| + |grad f(y)|) / mu. The gradients' own
        // rounding is allowed for.
        double const close = ((*this)["grad_norm"] + found.gradient_norm + 1e-15 * f.smoothness()) / (*this)["mu"];
        CHECK(std::abs(std::sqrt(toys::norm2(found.x)) - (*this)["norm_x_star"]) <= close);
        for (std::size_t i = 0; i < 5; ++i)
            CHECK(std::abs(found.x[i] - entry["x_star_first5"][i].template get<double>()) <= close);
    }

    void check_descent(auto const& f) const {
        std::vector<double> x(f.dimension()), g(f.dimension());
        double const rate = 1 / f.smoothness();
        for (int k = 0; k <= 1000; ++k) {
            double const value = laconic::evaluate(f, x, g);
            if (k == 1 || k == 10 || k == 100 || k == 1000) {
                CAPTURE(k);
                double const gap = entry["gd_step_1_over_L"][std::to_string(k)].template get<double>();
                CHECK(std::abs(value - (*this)["f_star"] - gap) <= 1e-12 * value);
            }
            for (std::size_t i = 0; i < x.size(); ++i) x[i] -= rate * g[i];
        }
    }
};

TEST_CASE("ridge regression by hand") {
    // f(x) = ((2x - 1)^2 + (x - 3)^2) / 4 + x^2 / 4: 0 = (2 (2x - 1) + x - 3) / 2 + x / 2
    laconic::dataset<double> const data{"two", Eigen::MatrixXd{{2}, {1}}.sparseView(), {1, 3}};
    auto const found = laconic::find_optimum(laconic::ridge<>(data, 0.5));
    REQUIRE(found.x.size() == 1);
    CHECK(found.x[0] == doctest::Approx(5 / 6.0).epsilon(1e-15));
    CHECK(found.iterations <= 2);
    CHECK(found.gradient_norm <= 1e-12);
}

TEST_CASE("products find what the matrix finds") {
    for (double density : {0.05, 0.6}) {
        laconic::logistic_regression<> const f(drawn::data(300, 40, density), 1e-3);
        auto const dense = laconic::find_optimum(f, 0);
        auto const products = laconic::find_optimum(newton::products_only{f}, 0);
        CHECK(dense.gradient_norm < 1e-14);
        CHECK(products.gradient_norm < 1e-14);
        CHECK(products.value == doctest::Approx(dense.value).epsilon(1e-14));
        for (std::size_t i = 0; i < 40; ++i) CHECK(std::abs(products.x[i] - dense.x[i]) < 1e-10);
    }
}

TEST_CASE("above 4096 features products are used") {
    laconic::logistic_regression<> const f(drawn::data(150, 5000, 0.01), 1e-2);
    auto const found = laconic::find_optimum(f);
    std::vector<double> g(5000);
    CHECK(f.value_and_gradient(found.x, g) == found.value);
    CHECK(found.gradient_norm <= 1e-12);
    CHECK(std::sqrt(toys::norm2(g)) == doctest::Approx(found.gradient_norm).epsilon(1e-12));
}

TEST_CASE("steps that are too long are damped") {
    auto const found = laconic::find_optimum(far_away{});
    CHECK(found.x[0] == doctest::Approx(30).epsilon(1e-12));
    CHECK(found.value == 1);
}

TEST_CASE("a singular Hessian still gives a step") {
    // two equal columns, and no penalty
    laconic::dataset<double> const data{"twins", Eigen::MatrixXd{{1, 1}, {2, 2}, {3, 3}}.sparseView(), {2, 4, 7}};
    laconic::ridge<> const f(data, 0);
    auto const found = laconic::find_optimum(f);
    CHECK(found.x[0] + found.x[1] == doctest::Approx(31 / 14.0).epsilon(1e-12));
}

TEST_CASE("what has no minimum or is not finite, and a tolerance below 0, is an error") {
    CHECK_THROWS_WITH_AS(laconic::find_optimum(newton::no_minimum{1e6}), doctest::Contains("gradient norm is still"),
                         laconic::error);
    CHECK_THROWS_AS(laconic::find_optimum(not_a_number{}), laconic::error);
    CHECK_THROWS_AS(laconic::find_optimum(far_away{}, -1), laconic::argument_error);
    CHECK_THROWS_AS(laconic::find_optimum(far_away{}, std::nan("")), laconic::argument_error);
}

TEST_CASE("the optima of real data, and gradient descent towards them, against optima.json" *
          doctest::test_suite("slow")) {
    auto const text = test_text("optima.json");
    if (!text) return;
    std::string loaded;
    laconic::dataset<double> data;
    int entries = 0;
    for (auto const& entry : nlohmann::json::parse(*text)) {
        if (entry["data"] != loaded) {
            loaded = entry["data"];
            data = *test_data(loaded);
            if (entry["objective"] == "logistic") laconic::binary_labels(data);
        }
        int const workers = entry["workers"];
        std::string const tag = entry["lambda_tag"];
        CAPTURE(loaded);
        CAPTURE(workers);
        CAPTURE(tag);
        bool const descend = workers == 20 && tag == "1e-3";
        auto const run = [&](auto const& f) {
            reference_optimum{entry}.check(f);
            if (descend) reference_optimum{entry}.check_descent(f);
        };
        auto const whole = data.first(entry["rows_used"]);
        if (entry["objective"] == "logistic")
            run(laconic::logistic_regression<>(whole, entry["lambda"]));
        else
            run(laconic::ridge<>(whole, entry["lambda"]));
        ++entries;
    }
    CHECK(entries == 81);
}

// The minimum of f + weight |x|_1 meets its conditions, by hand, against all patterns of signs and on real data.

double soft(double v, double by) { return std::max(v - by, 0.) - std::max(-v - by, 0.); }

double largest_slope_at_0(auto const& f) {
    double largest = 0;
    for (double gi : drawn::gradient(f, std::vector<double>(f.dimension()))) largest = std::max(largest, std::abs(gi));
    return largest;
}

// Karush, Kuhn and Tucker, for a gradient that is computed here.
std::size_t check_conditions(auto const& f, double weight, optimum const& best) {
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
    networks::bowl const f{{3, -2.5, 0.5, -1, 0, 1.25}};
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
    networks::bowl const f{{1, std::nan("")}};
    CHECK_THROWS_AS(find_composite_optimum(f, 0.1), error);
    networks::bowl const g{{1, 2}};
    double const infinity = std::numeric_limits<double>::infinity();
    for (double weight : {-1., std::nan(""), infinity})
        CHECK_THROWS_AS(find_composite_optimum(g, weight), argument_error);
    for (double tolerance : {0., -1., std::nan(""), infinity})
        CHECK_THROWS_AS(find_composite_optimum(g, 1, tolerance), argument_error);
}
