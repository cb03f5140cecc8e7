// SPDX-License-Identifier: Apache-2.0
// Penalties have the derivatives of differences within their stated range, and are finite for any x.
#include "laconic/objective/linear_model.hpp"

#include <Eigen/Dense>
#include <nlohmann/json.hpp>
#include <thread>

#include "support/data.hpp"
#include "support/drawn.hpp"
#include "support/everything.hpp"

static_assert(Penalty<squared_penalty> && Penalty<bounded_penalty>);

struct no_range {
    static double value(double) { return 0; }
    static double slope(double) { return 0; }
    static double bend(double) { return 0; }
};
static_assert(!Penalty<no_range>);

TEST_CASE_TEMPLATE("penalty: derivatives are those of central differences and keep their range", P, squared_penalty,
                   bounded_penalty) {
    CHECK(P::value(0) == 0);
    CHECK(P::slope(0) == 0);
    for (double x = -4; x <= 4; x += 0.0625) {
        CAPTURE(x);
        double const step = 1e-5;
        CHECK(P::value(x) == P::value(-x));
        CHECK(std::abs(P::slope(x) - (P::value(x + step) - P::value(x - step)) / (2 * step)) < 1e-9);
        CHECK(std::abs(P::bend(x) - (P::slope(x + step) - P::slope(x - step)) / (2 * step)) < 1e-9);
        CHECK(P::bend(x) <= P::largest_bend);
        CHECK(P::bend(x) >= P::smallest_bend);
    }
}

TEST_CASE("penalty: by hand, and where the bounds are reached") {
    CHECK(squared_penalty::value(3) == 4.5);
    CHECK(squared_penalty::slope(3) == 3);
    CHECK(squared_penalty::bend(3) == 1);
    CHECK(bounded_penalty::value(1) == 0.5);
    CHECK(bounded_penalty::value(-3) == 0.9);
    CHECK(bounded_penalty::slope(1) == 0.5);
    CHECK(bounded_penalty::bend(0) == bounded_penalty::largest_bend);
    CHECK(bounded_penalty::bend(1) == bounded_penalty::smallest_bend);
    CHECK(bounded_penalty::bend(-1) == bounded_penalty::smallest_bend);
}

TEST_CASE("penalty: the bounded one is finite for any x, exact for small ones, and hides no NaN") {
    for (double x : {1e10, 1e160, 1e308}) {
        CHECK(bounded_penalty::value(x) == 1);
        CHECK(bounded_penalty::slope(x) >= 0);
        CHECK(bounded_penalty::slope(x) < 1e-29);
        CHECK(std::abs(bounded_penalty::bend(x)) < 1e-39);
    }
    CHECK(bounded_penalty::value(1e-10) == doctest::Approx(1e-20).epsilon(1e-15).scale(0));
    CHECK(std::isnan(bounded_penalty::value(std::nan(""))));
    CHECK(std::isnan(bounded_penalty::slope(std::nan(""))));
    CHECK(std::isnan(bounded_penalty::bend(std::nan(""))));
}

// Values, derivatives, L and mu of linear models agree with definition, differences and published optima.

// (hessian.cpp has their second derivatives, finite_sum.cpp batches and slopes.)
TEST_CASE_TEMPLATE("value and gradient agree with the definition and with finite differences", F,
                   laconic::logistic_regression<>, laconic::ridge<>) {
    std::size_t const d = 7;
    double const lambda = 0.03;
    auto const data = drawn::data(40, d);
    F const f(data, lambda);
    CHECK(f.dimension() == d);
    CHECK(f.samples() == 40);
    CHECK(f.lambda() == lambda);
    CHECK(f.data().name == "drawn");
    auto const x = drawn::point(d, 5);
    drawn::gradient_is_true(f, x);

    Eigen::MatrixXd const dense(data.rows);
    auto const at = Eigen::Map<Eigen::VectorXd const>(x.data(), d);
    double mean = 0;
    for (std::ptrdiff_t j = 0; j < 40; ++j) {
        double const z = dense.row(j) * at, y = data.labels[std::size_t(j)];
        mean += (std::is_same_v<F, laconic::ridge<>> ? (z - y) * (z - y) / 2 : std::log(1 + std::exp(-y * z))) / 40;
    }
    CHECK(f.value(x) == doctest::Approx(mean + lambda / 2 * at.squaredNorm()).epsilon(1e-14));
}

TEST_CASE_TEMPLATE("mu and L bound the bend of f between any two points", F, laconic::logistic_regression<>,
                   laconic::ridge<>) {
    std::size_t const d = 5;
    F const f(drawn::data(60, d), 0.01);
    double const mu = f.strong_convexity(), L = f.smoothness();
    CHECK(mu >= 0.01);
    CHECK(L > mu);
    for (std::uint64_t pair = 0; pair < 200; ++pair) {
        auto const x = drawn::point(d, 100 + 2 * pair), y = drawn::point(d, 101 + 2 * pair);
        std::vector<double> gx(d), gy(d);
        double const fx = f.value_and_gradient(x, gx), fy = f.value_and_gradient(y, gy);
        double along = 0, square = 0;
        for (std::size_t i = 0; i < d; ++i) along += gx[i] * (y[i] - x[i]), square += (y[i] - x[i]) * (y[i] - x[i]);
        CHECK(fy - fx - along >= mu / 2 * square * (1 - 1e-10));
        CHECK(fy - fx - along <= L / 2 * square * (1 + 1e-10));
    }
}

TEST_CASE("constants are those of the dense matrix, remembered and shared by copies and threads") {
    auto const data = drawn::data(300, 90, 0.1);
    Eigen::MatrixXd const dense(data.rows);
    auto const values =
        Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>(dense.transpose() * dense / 300).eigenvalues().eval();
    laconic::ridge<> const f(data, 0.25);
    auto const copy = f;
    std::vector<double> found(8);
    {
        std::vector<std::thread> threads;
        for (std::size_t t = 0; t < 4; ++t)
            threads.emplace_back([&, t] {
                auto const& mine = t % 2 ? f : copy;
                found[2 * t] = mine.smoothness();
                found[2 * t + 1] = mine.strong_convexity();
            });
        for (auto& thread : threads) thread.join();
    }
    for (std::size_t t = 0; t < 4; ++t) {
        CHECK(found[2 * t] == doctest::Approx(values[89] + 0.25).epsilon(1e-13));
        CHECK(found[2 * t + 1] == doctest::Approx(values[0] + 0.25).epsilon(1e-13));
        CHECK(found[2 * t] == found[0]);
    }
}

TEST_CASE("above 1024 features mu is lambda, and L is still exact") {
    laconic::dataset<double> data{"wide", {}, std::vector<double>(1100, 1.0)};
    data.rows.resize(1100, 1025);
    for (std::ptrdiff_t i = 0; i < 1025; ++i) data.rows.insert(i, i) = i == 700 ? 20 : 10;
    laconic::ridge<> const f(data, 0.125);
    CHECK(f.strong_convexity() == 0.125);
    CHECK(f.smoothness() == doctest::Approx(400 / 1100.0 + 0.125).epsilon(1e-13));
}

TEST_CASE("single precision follows double") {
    std::size_t const d = 20;
    laconic::logistic_regression<> const exact(drawn::data(200, d), 0.01);
    laconic::logistic_regression<float> const f(drawn::data<float>(200, d), 0.01);
    auto const x = drawn::point(d, 7);
    std::vector<float> const x_single(x.begin(), x.end());
    std::vector<double> g(d);
    std::vector<float> g_single(d);
    CHECK(f.value_and_gradient(x_single, g_single) == doctest::Approx(exact.value_and_gradient(x, g)).epsilon(1e-6));
    for (std::size_t i = 0; i < d; ++i) CHECK(std::abs(g_single[i] - g[i]) < 1e-6);
    CHECK(f.smoothness() == doctest::Approx(exact.smoothness()).epsilon(1e-6));
    Eigen::MatrixXd h, h_single;
    exact.hessian(x, h);
    f.hessian(x_single, h_single);
    CHECK((h - h_single).norm() < 1e-6 * h.norm());
}

TEST_CASE("rows with room between them, as inserting leaves them, are closed up") {
    auto loose = drawn::data(50, 6);
    loose.rows.uncompress();
    loose.rows.reserve(std::vector<int>(50, 9));
    auto closed = loose;
    closed.rows.makeCompressed();
    REQUIRE(!loose.rows.isCompressed());
    laconic::ridge<> const expected(std::move(closed), 0.1), f(std::move(loose), 0.1);
    CHECK(f.value(drawn::point(6, 1)) == expected.value(drawn::point(6, 1)));
    CHECK(f.smoothness() == expected.smoothness());
}

TEST_CASE("values are summed to the last digit") {
    // two losses of 2^51 beside a million of 1/2: a plain sum loses each of them, or rounds each up to 1
    std::size_t const n = 1000001;
    laconic::dataset<double> data{"tiny", {}, std::vector<double>(n, 1.0)};
    data.rows.resize(std::ptrdiff_t(n), 1);
    data.labels[0] = 0x1p26;
    data.labels[1] = 0x1p26;
    laconic::ridge<> const f(data, 0);
    CHECK(f.value(std::vector<double>{0}) * double(n) == doctest::Approx(0x1p52 + 499999.5).epsilon(3e-16));
}

TEST_CASE("data that are not finite give no constants, however often they are computed") {
    auto data = drawn::data(10, 3);
    data.rows.coeffRef(4, 1) = std::numeric_limits<double>::infinity();
    laconic::ridge<> const f(data, 1);
    CHECK_THROWS_AS(f.smoothness(), laconic::error);
    CHECK_THROWS_AS(f.smoothness(), laconic::error);
    CHECK(!std::isfinite(f.value(std::vector<double>{1, 1, 1})));
}

TEST_CASE("what makes no objective is refused") {
    auto const data = drawn::data(4, 2);
    for (double lambda : {-1e-9, std::nan(""), std::numeric_limits<double>::infinity()})
        CHECK_THROWS_AS(laconic::logistic_regression<>(data, lambda), laconic::argument_error);
    CHECK_NOTHROW(laconic::logistic_regression<>(data, 0));

    CHECK_THROWS_AS(laconic::logistic_regression<>(laconic::dataset<double>{}, 1), laconic::argument_error);
    CHECK_THROWS_AS(laconic::ridge<>(data.first(0), 1), laconic::argument_error);
    auto no_features = data;
    no_features.rows.resize(4, 0);
    CHECK_THROWS_AS(laconic::ridge<>(no_features, 1), laconic::argument_error);

    auto zero_and_one = data;
    zero_and_one.labels = {0, 1, 1, 0};
    CHECK_THROWS_WITH_AS(laconic::logistic_regression<>(zero_and_one, 1),
                         "drawn: the label 0 is not -1 or +1 (binary_labels makes it so)", laconic::argument_error);
    CHECK_NOTHROW(laconic::ridge<>(zero_and_one, 1));
    zero_and_one.labels[2] = std::nan("");
    CHECK_THROWS_AS(laconic::ridge<>(zero_and_one, 1), laconic::argument_error);
    zero_and_one.labels.pop_back();
    CHECK_THROWS_AS(laconic::ridge<>(zero_and_one, 1), laconic::shape_error);
}

TEST_CASE("L, mu, the workers' L and f(0) of real data against optima.json") {
    auto const text = test_text("optima.json");
    if (!text) return;
    std::string loaded;
    laconic::dataset<double> data;
    int entries = 0;
    for (auto const& entry : nlohmann::json::parse(*text)) {
        if (entry["lambda_tag"] != "1e-4") continue;  // lambda is but added; optimum.cpp checks the values of all
        bool const is_logistic = entry["objective"] == "logistic";
        if (entry["data"] != loaded) {
            loaded = entry["data"];
            data = *test_data(loaded);
            if (is_logistic) laconic::binary_labels(data);
        }
        std::size_t const workers = entry["workers"];
        double const lambda = entry["lambda"], L = entry["L"];
        CAPTURE(loaded);
        CAPTURE(workers);
        auto const whole = data.first(entry["rows_used"]);
        double largest = 0, mean = 0;
        auto const check = [&]<class F>(std::type_identity<F>) {
            F const f(whole, lambda);
            CHECK(f.dimension() == entry["dimension"]);
            CHECK(f.smoothness() == doctest::Approx(L).epsilon(1e-12));
            CHECK(std::abs(f.strong_convexity() - double(entry["mu"])) <= 1e-14 * L);
            CHECK(f.value(std::vector<double>(f.dimension())) ==
                  doctest::Approx(double(entry["f_at_0"])).epsilon(1e-12));
            for (std::size_t i = 0; i < workers; ++i) {
                double const mine = F(whole.part(i, workers), lambda).smoothness();
                largest = std::max(largest, mine);
                mean += mine / double(workers);
            }
        };
        if (is_logistic)
            check(std::type_identity<laconic::logistic_regression<>>{});
        else
            check(std::type_identity<laconic::ridge<>>{});
        CHECK(largest == doctest::Approx(double(entry["L_i_max"])).epsilon(1e-12));
        CHECK(mean == doctest::Approx(double(entry["L_i_mean"])).epsilon(1e-12));
        ++entries;
    }
    CHECK(entries == 27);
}
