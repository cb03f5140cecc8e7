// SPDX-License-Identifier: Apache-2.0
// find_optimum reaches the minimum by Newton's steps or products, also of hard functions, as optima.json has it.
#include "laconic/objective/optimum.hpp"

#include <nlohmann/json.hpp>

#include "support/data.hpp"
#include "support/drawn.hpp"
#include "support/everything.hpp"
#include "support/newton.hpp"

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

    template <class F>
    void check(F const& f) const {
        auto const found = laconic::find_optimum(f, 0);
        double const f_star = (*this)["f_star"];
        CHECK(found.value == doctest::Approx(f_star).epsilon(1e-12));
        CHECK(found.value == f.value(found.x));
        CHECK(found.gradient_norm <= 1e-13);
        CHECK(found.iterations <= 40);

        // Two points with small gradients are close: |x - y| <= (|grad f(x)| + |grad f(y)|) / mu. The gradients' own
        // rounding is allowed for.
        double const close = ((*this)["grad_norm"] + found.gradient_norm + 1e-15 * f.smoothness()) / (*this)["mu"];
        double square = 0;
        for (double xi : found.x) square += xi * xi;
        CHECK(std::abs(std::sqrt(square) - (*this)["norm_x_star"]) <= close);
        for (std::size_t i = 0; i < 5; ++i)
            CHECK(std::abs(found.x[i] - entry["x_star_first5"][i].template get<double>()) <= close);
    }

    template <class F>
    void check_descent(F const& f) const {
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
    laconic::dataset<double> data{"two", {}, {1, 3}};
    data.rows.resize(2, 1);
    data.rows.insert(0, 0) = 2;
    data.rows.insert(1, 0) = 1;
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
    double square = 0;
    for (double gi : g) square += gi * gi;
    CHECK(std::sqrt(square) == doctest::Approx(found.gradient_norm).epsilon(1e-12));
}

TEST_CASE("steps that are too long are damped") {
    auto const found = laconic::find_optimum(far_away{});
    CHECK(found.x[0] == doctest::Approx(30).epsilon(1e-12));
    CHECK(found.value == 1);
}

TEST_CASE("a singular Hessian still gives a step") {
    // two equal columns, and no penalty
    laconic::dataset<double> data{"twins", {}, {2, 4, 7}};
    data.rows.resize(3, 2);
    for (std::ptrdiff_t j = 0; j < 3; ++j) data.rows.insert(j, 0) = data.rows.insert(j, 1) = double(j + 1);
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
