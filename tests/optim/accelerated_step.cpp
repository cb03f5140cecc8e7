// SPDX-License-Identifier: Apache-2.0
// The accelerated step is Nesterov's, by hand, and its function falls by 1 - sqrt(mu / L) for exact gradients.
#include "laconic/optim/accelerated_step.hpp"

#include "support/everything.hpp"
#include "support/states.hpp"

using namespace laconic;
using vec = std::vector<double>;

static_assert(Step<accelerated_step<>> && Step<accelerated_step<float>, float>);

TEST_CASE("two steps by hand") {
    host on;
    accelerated_step<> step(1, .25);  // q = 1/2, q / mu = 2
    vec x{4}, d{1};
    step(on, std::span(x), std::span(d));  // y = 3, v = 4 - 2 = 2, x = (1 + 3) / 1.5
    CHECK(step.y()[0] == 3);
    CHECK(step.v()[0] == 2);
    CHECK(x[0] == doctest::Approx(8. / 3).epsilon(1e-15));
    d[0] = 2;
    step(on, std::span(x), std::span(d));  // y = 2/3, v = 1 + 4/3 - 4 = -5/3, x = (-5/6 + 2/3) / 1.5
    CHECK(step.y()[0] == doctest::Approx(2. / 3).epsilon(1e-15));
    CHECK(step.v()[0] == doctest::Approx(-5. / 3).epsilon(1e-15));
    CHECK(x[0] == doctest::Approx(-1. / 9).epsilon(1e-14));
}

TEST_CASE(
    "exact gradients: the theorem's function falls by 1 - sqrt(mu / L) every step, quicker than gradient descent") {
    host on;
    vec const curvature{1, 3, 10, 1000};
    accelerated_step<> step(1e-3, 1);
    gradient_step const slow{1e-3};
    vec x{3, -2, 1, 1}, z = x, y = x, v = x, d(4);
    auto const value = [&](vec const& at) {
        double sum = 0;
        for (std::size_t i = 0; i < 4; ++i) sum += curvature[i] * at[i] * at[i] / 2;
        return sum;
    };
    auto const lyapunov = [&] {
        double sum = value(y);
        for (double const vi : v) sum += vi * vi / 2;
        return sum;
    };
    for (int k = 0; k < 500; ++k) {
        double const before = lyapunov();
        for (std::size_t i = 0; i < 4; ++i) d[i] = curvature[i] * x[i];
        step(on, std::span(x), std::span(d));
        y.assign(step.y().begin(), step.y().end());
        v.assign(step.v().begin(), step.v().end());
        CHECK(lyapunov() <= (1 - std::sqrt(1e-3)) * before * (1 + 1e-12));
        for (std::size_t i = 0; i < 4; ++i) d[i] = curvature[i] * z[i];
        slow(on, std::span(z), std::span(d));
    }
    CHECK(value(y) < 1e-8);
    CHECK(value(z) > .1);
}

TEST_CASE("both sequences are its state") {
    host on;
    accelerated_step<float> first(.5, .5, 2), second(.5, .5, 2);
    std::vector<float> x{1, 2}, d{.5f, -1};
    for (int k = 0; k < 3; ++k) first(on, std::span(x), std::span(d));
    restore_from(first, second);
    auto y = x;
    auto e = d;
    first(on, std::span(x), std::span(d));
    second(on, std::span(y), std::span(e));
    CHECK(x == y);
}

TEST_CASE("numbers that do not go together are refused") {
    CHECK_THROWS_AS(accelerated_step<>(0, 1), argument_error);
    CHECK_THROWS_AS(accelerated_step<>(1, 0), argument_error);
    CHECK_THROWS_AS(accelerated_step<>(.1, 1, .5), argument_error);
    CHECK_THROWS_AS(accelerated_step<>(2, 1), argument_error);  // q above 1
    CHECK_THROWS_AS(accelerated_step<>(NAN, 1), argument_error);
    CHECK(to_string(accelerated_step<>(.1, 1, 2)) == "accelerated_step(0.1, mu=1, growth=2)");
}
