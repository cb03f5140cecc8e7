// SPDX-License-Identifier: Apache-2.0
// The perceptron has the values by hand, learns exclusive or, and is smooth as bounded. (neural_network.cpp has that
// networks are as defined.)
#include "laconic/objective/perceptron.hpp"

#include <thread>

#include "support/drawn.hpp"
#include "support/everything.hpp"

using namespace laconic;

static_assert(FiniteSum<perceptron<float>, float> && FusedObjective<perceptron<>> && !SmoothObjective<perceptron<>>);

using relu_net = perceptron<>;
using tanh_net = perceptron<double, activation::tanh>;

template <class F>
concept bounded_in_a_ball = requires(F const& f) {
    f.smoothness_within(1.0);
};
static_assert(bounded_in_a_ball<tanh_net> && !bounded_in_a_ball<relu_net>);
static_assert(FiniteSum<tanh_net> && !FiniteSum<tanh_net, float> && !SmoothObjective<tanh_net>);

double distance(std::vector<double> const& a, std::vector<double> const& b) {
    double sum = 0;
    for (std::size_t i = 0; i < a.size(); ++i) sum += (a[i] - b[i]) * (a[i] - b[i]);
    return std::sqrt(sum);
}

// Yes where exactly one of two coordinates is 1: no line separates the classes.
dataset<> exclusive_or() {
    dataset<> data{"xor", {}, {0, 1, 1, 0}};
    data.rows.resize(4, 2);
    data.rows.insert(1, 0) = 1;
    data.rows.insert(2, 1) = 1;
    data.rows.insert(3, 0) = 1;
    data.rows.insert(3, 1) = 1;
    return data;
}

TEST_CASE("perceptron: by hand") {
    relu_net const f(exclusive_or(), 2);
    CHECK(f.dimension() == 2 * 2 + 2 + 2 * 2 + 2);
    CHECK(f.features() == 2);
    CHECK(f.hidden() == 2);
    CHECK(f.samples() == 4);
    CHECK(f.matrices()[0] == matrix_block{0, 2, 2});
    CHECK(f.matrices()[1] == matrix_block{6, 2, 2});
    // units (a + b) and (a + b - 1); the second class sees the first unit less twice the second: 0, 1, 1, 0
    std::vector<double> const x{1, 1, 1, 1, 0, -1, 0, 0, 10, -20, 0, -5};
    CHECK(f.value(x) == doctest::Approx(std::log(1 + std::exp(-5))).epsilon(1e-14));
    CHECK(f.accuracy(x) == 1);
    auto flat = x;
    flat[9] = 0;  // without the second unit, the fourth row goes wrong
    CHECK(f.accuracy(flat) == 0.75);
    CHECK(relu_net(exclusive_or(), 2, 0.5).value(x) == doctest::Approx(f.value(x) + 0.25 * (4 + 500)).epsilon(1e-14));
}

TEST_CASE("perceptron: gradient descent from a drawn start learns what no line separates") {
    tanh_net const f(exclusive_or(), 4);
    auto x = f.initial_point(key{3});
    std::vector<double> g(x.size());
    double const before = f.value(x);
    for (int i = 0; i < 2000; ++i) {
        f.gradient(x, g);
        for (std::size_t c = 0; c < x.size(); ++c) x[c] -= 0.5 * g[c];
    }
    CHECK(f.accuracy(x) == 1);
    CHECK(f.value(x) < before / 20);
}

TEST_CASE("perceptron: smoothness_within bounds how the gradient of every row moves in the ball, and is not far off") {
    auto const data = drawn::data(6, 3, 0.8, 3);
    tanh_net const f(data, 4, 0.1);
    std::vector<std::uint32_t> row(1);
    for (double radius : {0.5, 2., 8.}) {
        double const bound = f.smoothness_within(radius);
        for (std::uint64_t n = 0; n < 200; ++n) {
            auto x = drawn::point(f.dimension(), n), y = drawn::point(f.dimension(), n + 1000);
            double const far = n % 2 ? 1 : 1e-4;
            for (auto& xi : x) xi *= radius / std::sqrt(double(x.size()));  // |x_i| <= radius / sqrt(d)
            for (std::size_t i = 0; i < x.size(); ++i)
                y[i] = (1 - far) * x[i] + far * y[i] * radius / std::sqrt(double(x.size()));
            row[0] = std::uint32_t(n % 6);
            std::vector<double> a(x.size()), b(x.size());
            f.batch_gradient(row, x, a);
            f.batch_gradient(row, y, b);
            CHECK(distance(a, b) <= bound * distance(x, y));
        }
    }

    // At 0 all outputs are equal, so the slopes have the norm sqrt(1/2) for two classes, and the Hessian moves W' b
    // against W a: s / sqrt 2 of the bound 1/2 + sqrt 2 s.
    dataset<> one{"one", {}, {1}};
    one.rows.resize(1, 1);
    one.rows.insert(0, 0) = 7;
    tanh_net const g(one, 1, 0, {0, 1});
    double const s = std::sqrt(50.), bound = g.smoothness_within(0);
    CHECK(bound == doctest::Approx(0.5 + std::sqrt(2.) * s).epsilon(1e-14));
    double const t = 1e-6;
    std::vector<double> const up{t * 7 / s, t / s, t / std::sqrt(2.), -t / std::sqrt(2.), 0, 0}, zero(6);
    double const bend = distance(drawn::gradient(g, up), drawn::gradient(g, zero)) / distance(up, zero);
    CHECK(bend == doctest::Approx(s / std::sqrt(2.)).epsilon(1e-6));
    CHECK(bend <= bound);
}

TEST_CASE("perceptron: workers that lack a class agree with the whole") {
    auto const data = drawn::data(40, 3, 0.8, 5);
    relu_net const whole(data, 4);
    auto const x = drawn::point(whole.dimension(), 1);
    double mean = 0;
    for (std::size_t i = 0; i < 20; ++i) mean += relu_net(data.part(i, 20), 4, 0, classes(data)).value(x) / 20;
    CHECK(whole.value(x) == doctest::Approx(mean).epsilon(1e-14));
}

TEST_CASE("perceptron: threads that work on different networks do not disturb each other") {
    relu_net const small(drawn::data(80, 3), 2), large(drawn::data(80, 9, 0.5, 4), 20);
    auto const x = drawn::point(small.dimension(), 1), y = drawn::point(large.dimension(), 2);
    auto const g = drawn::gradient(small, x), h = drawn::gradient(large, y);
    std::vector<int> wrong(4);
    std::vector<std::thread> threads;
    for (std::size_t t = 0; t < 4; ++t)
        threads.emplace_back([&, t] {
            for (int i = 0; i < 20; ++i) {
                std::vector<double> a(g.size()), b(h.size());
                small.gradient(x, a);
                large.gradient(y, b);
                wrong[t] += a != g || b != h;
            }
        });
    for (auto& thread : threads) thread.join();
    CHECK(wrong == std::vector<int>(4));
}

TEST_CASE("perceptron: single precision follows double, and what is not a number shows") {
    relu_net const exact(drawn::data(100, 6, 0.5, 3), 8, 0.01);
    perceptron<float> const f(drawn::data<float>(100, 6, 0.5, 3), 8, 0.01);
    auto const x = exact.initial_point(key{1});
    auto single = f.initial_point(key{1});
    for (std::size_t i = 0; i < x.size(); ++i) CHECK(single[i] == float(x[i]));
    std::vector<double> g(x.size());
    std::vector<float> rough(x.size());
    CHECK(f.value_and_gradient(single, rough) == doctest::Approx(exact.value_and_gradient(x, g)).epsilon(1e-6));
    for (std::size_t i = 0; i < x.size(); ++i) CHECK(std::abs(rough[i] - g[i]) < 1e-6);
    single[0] = std::numeric_limits<float>::quiet_NaN();  // reaches the first unit, which relu must not hide
    CHECK(std::isnan(f.value(single)));
}
