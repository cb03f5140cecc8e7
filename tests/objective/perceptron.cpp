// SPDX-License-Identifier: Apache-2.0
// The perceptron has the values by hand, and learns exclusive or. (neural_network.cpp has that
// networks are as defined.)
#include "laconic/objective/perceptron.hpp"

#include <thread>

#include "support/drawn.hpp"
#include "support/everything.hpp"

static_assert(FiniteSum<perceptron<float>, float> && FusedObjective<perceptron<>> && !SmoothObjective<perceptron<>>);

using relu_net = perceptron<>;
using tanh_net = perceptron<double, activation::tanh>;

static_assert(FiniteSum<tanh_net> && !FiniteSum<tanh_net, float> && !SmoothObjective<tanh_net>);

// Yes where exactly one of two coordinates is 1: no line separates the classes.
dataset<> exclusive_or() { return {"xor", Eigen::MatrixXd{{0, 0}, {1, 0}, {0, 1}, {1, 1}}.sparseView(), {0, 1, 1, 0}}; }

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
