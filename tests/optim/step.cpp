// SPDX-License-Identifier: Apache-2.0
// Steps are those by hand, go on from a saved state, and keep their bounds; Step takes a user's own functions.
#include "laconic/optim/step.hpp"

#include "laconic/backend/reference.hpp"
#include "support/everything.hpp"
#include "support/laws/known_steps.hpp"
#include "support/steps.hpp"

using vec = std::vector<double>;

// Steps of the user's: a function object, and a lambda.
struct sign_step {
    template <class B, Scalar T>
    void operator()(B&, std::span<T> x, std::span<T> d) const {
        for (std::size_t j = 0; j < x.size(); ++j) x[j] -= d[j] > 0 ? T(1) : T(-1);
    }
};
struct only_float {
    void operator()(host&, std::span<float>, std::span<float>) const {}
};
constexpr auto by_lambda = [](host&, std::span<double> x, std::span<double> d) { x[0] -= d[0]; };
static_assert(Step<sign_step> && Step<sign_step, float> && Step<std::remove_const_t<decltype(by_lambda)>>);
static_assert(Step<only_float, float> && !Step<only_float, double> && !Step<int>);
static_assert(Step<proximal<momentum<>, elastic_net>>);
static_assert(Step<gradient_step> && Step<gradient_step, float> && Step<decreasing_step> && Step<momentum<>>);
static_assert(Step<momentum<float>, float> && Step<accelerated_step<float>, float>);
static_assert(Step<dual_averaging_step<float>, float>);

vec copied(std::span<double const> x) { return {x.begin(), x.end()}; }

// It is the gradient step with this rate.
void is_the_gradient_step(auto step, double rate) {
    host on;
    std::vector<float> x{1, 2, 3}, y = x, d{.3f, -.7f, 2};
    for (int k = 0; k < 5; ++k) {
        step(on, std::span(x), std::span(d));
        gradient_step{rate}(on, std::span(y), std::span(d));
    }
    CHECK(x == y);
}

TEST_CASE("what steps remember is saved, and their numbers are their own") {
    steps::goes_on(momentum<>(.5, .25));
    steps::goes_on<float>(momentum<float>({.rate = .5, .beta = .25, .dampening = .5}));
    steps::goes_on(decreasing_step(1, 1));
    steps::goes_on<float>(accelerated_step<float>(.5, .5, 2));
    steps::goes_on(dual_averaging_step<>(.5));
    is_the_gradient_step(momentum<float>(.1, 0), .1);
    is_the_gradient_step(decreasing_step(8, 0), .125);
    CHECK(to_string(momentum<>(.5, .25)) == "momentum(0.5, 0.25)");
    CHECK(to_string(momentum<float>({.rate = .1, .beta = .5, .weight_decay = .25, .nesterov = true})) ==
          "momentum(0.1, 0.5, weight_decay=0.25, nesterov=yes)");
    CHECK(to_string(decreasing_step(2, 2)) == "decreasing_step(2, 2)");
    CHECK(to_string(accelerated_step<>(.1, 1, 2)) == "accelerated_step(0.1, mu=1, growth=2)");
    CHECK(to_string(dual_averaging_step<>(.5)) == "dual_averaging_step(0.5)");
}

TEST_CASE("numbers that make no step are refused") {
    auto const refused = [](momentum_options const& how, char const* why) {
        CHECK_THROWS_WITH_AS(momentum<>{how}, why, argument_error);
    };
    CHECK_THROWS_WITH_AS(momentum<>(.1, 1), "momentum: beta = 1 is outside [0, 1)", argument_error);
    refused({.dampening = 1.5}, "momentum: dampening = 1.5 is outside 0 .. 1");
    refused({.weight_decay = -1}, "momentum: weight_decay = -1 is outside 0 .. 1e+300");
    refused({.dampening = .5, .nesterov = true}, "momentum: Nesterov's form needs a beta above 0 and no dampening");
    refused({.beta = 0, .nesterov = true}, "momentum: Nesterov's form needs a beta above 0 and no dampening");
    CHECK_THROWS_AS(accelerated_step<>(0, 1), argument_error);
    CHECK_THROWS_AS(accelerated_step<>(1, 0), argument_error);
    CHECK_THROWS_AS(accelerated_step<>(.1, 1, .5), argument_error);
    CHECK_THROWS_AS(accelerated_step<>(2, 1), argument_error);  // q above 1
    CHECK_THROWS_AS(accelerated_step<>(NAN, 1), argument_error);
}

TEST_CASE("a step of the user's moves the iterate, and a proximal operator follows it") {
    host on;
    proximal<sign_step, elastic_net> step{{}, {2, 0}, .5};
    double x[] = {5, 5}, d[] = {2, -3};
    step(on, std::span<double>(x), std::span<double>(d));  // (4, 6), then 1 off
    CHECK(x[0] == 3);
    CHECK(x[1] == 5);
}

TEST_CASE("x moves against d, at any length, and d stays") {
    host on;
    for (std::size_t n : {0u, 1u, 2u, 5u, 8u, 17u}) {
        vec x(n, 10), d(n), expected(n);
        for (std::size_t j = 0; j < n; ++j) {
            d[j] = double(j) - 2;
            expected[j] = 11 - double(j) / 2;
        }
        auto const before = d;
        gradient_step{.5}(on, std::span(x), std::span(d));
        CHECK(x == expected);
        CHECK(d == before);
    }
    std::vector<float> x{1, 2}, d{4, -4};
    gradient_step{.25}(on, std::span(x), std::span(d));
    CHECK(x == std::vector<float>{0, 3});
}

TEST_CASE("three steps by hand: 1/2, 1/4, 1/6") {
    host on;
    decreasing_step step(2, 2);
    vec x{12, 0}, d{12, -24};
    CHECK(step.rate() == .5);
    step(on, std::span(x), std::span(d));
    CHECK(x == vec{6, 12});
    step(on, std::span(x), std::span(d));
    CHECK(x == vec{3, 18});
    step(on, std::span(x), std::span(d));
    CHECK(x == vec{1, 22});
}

TEST_CASE("steps 1 / (1 + t) come to the mean of noisy targets") {
    host on;
    decreasing_step shrinking(1, 1);
    vec x{0}, d(1);
    double mean = 0;
    for (int t = 0; t < 1000; ++t) {
        double const target = t * 37 % 101;
        mean += target / 1000;
        d[0] = x[0] - target;
        shrinking(on, std::span(x), std::span(d));
    }
    CHECK(x[0] == doctest::Approx(mean).epsilon(1e-12));
}

TEST_CASE("momentum: three steps by hand") {
    host on;
    momentum<> step(.5, .25);
    vec x{0, 8}, d{4, -8};
    step(on, std::span(x), std::span(d));  // v = (4, -8)
    CHECK(x == vec{-2, 12});
    step(on, std::span(x), std::span(d));  // v = (5, -10)
    CHECK(x == vec{-4.5, 17});
    d = {0, 0};
    step(on, std::span(x), std::span(d));  // v = (1.25, -2.5)
    CHECK(x == vec{-5.125, 18.25});
    CHECK(vec(step.velocity().begin(), step.velocity().end()) == vec{1.25, -2.5});
}

TEST_CASE_TEMPLATE("momentum: PyTorch's dampening, weight decay and Nesterov's form come to its numbers", B, host,
                   reference) {
    laws::known_momentum<B>();
}

TEST_CASE("momentum: along a constant d each form comes to steps of limit_rate") {
    host on;
    for (momentum_options const how : {momentum_options{.rate = .5, .beta = .75},
                                       {.rate = .5, .beta = .75, .dampening = .25},
                                       {.rate = .5, .beta = .75, .nesterov = true}}) {
        momentum<> step(how);
        CAPTURE(to_string(step));
        vec x{0}, d(1);
        double before = 0;
        for (int k = 0; k < 200; ++k) {
            before = x[0], d[0] = 1;
            step(on, std::span(x), std::span(d));
        }
        CHECK(before - x[0] == doctest::Approx(step.limit_rate()).epsilon(1e-12));
    }
}

TEST_CASE("momentum: on a badly conditioned bowl it is quicker than the gradient step") {
    host on;
    double const l = 1000, root = std::sqrt(l);  // Polyak's step and beta for mu = 1
    momentum<> heavy(4 / ((root + 1) * (root + 1)), (root - 1) * (root - 1) / ((root + 1) * (root + 1)));
    gradient_step const plain{2 / (l + 1)};
    vec x{1, 1}, y{1, 1}, d(2);
    for (int k = 0; k < 400; ++k) {
        d = {x[0], l * x[1]};
        heavy(on, std::span(x), std::span(d));
        d = {y[0], l * y[1]};
        plain(on, std::span(y), std::span(d));
    }
    CHECK(std::abs(x[0]) < 1e-8);
    CHECK(std::abs(x[1]) < 1e-8);
    CHECK(std::abs(y[0]) > .1);
}

TEST_CASE("accelerated_step: two steps by hand") {
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

TEST_CASE("dual_averaging_step: four steps by hand") {
    host on;
    dual_averaging_step<> step(.5);
    vec x{10, 20}, d{2, -4};
    CHECK(step.average().empty());
    step(on, std::span(x), std::span(d));
    CHECK(x == vec{9, 22});
    CHECK(copied(step.average()) == vec{10, 20});
    for (int k = 0; k < 2; ++k) {
        d = {2, 0};
        step(on, std::span(x), std::span(d));
    }
    d = {0, 2};
    step(on, std::span(x), std::span(d));  // z = (6, -2), 0.5 / sqrt(4)
    CHECK(x == vec{8.5, 20.5});
    CHECK(copied(step.sum()) == vec{6, -2});
    double const x2 = 10 - .5 / std::sqrt(2.) * 4, x3 = 10 - .5 / std::sqrt(3.) * 6;
    CHECK(step.average()[0] == doctest::Approx((10 + 9 + x2 + x3) / 4));
}

TEST_CASE("of |x|, which is not smooth, the mean is within R G sqrt(2 / T) of the optimum") {
    host on;
    double const distance = 3;  // x* = 0, G = 1
    dual_averaging_step<> step(distance / std::sqrt(2.));
    vec x{distance}, d(1);
    double last_worst = 0;
    for (int t = 1; t <= 2000; ++t) {
        d[0] = x[0] > 0 ? 1 : -1;
        step(on, std::span(x), std::span(d));
        CHECK(std::abs(step.average()[0]) <= distance * std::sqrt(2. / t));
        if (t > 1000) last_worst = std::max(last_worst, std::abs(x[0]));
    }
    CHECK(last_worst > .01);  // the iterates go on stepping over it
}

static_assert(Prox<elastic_net> && Prox<elastic_net, float>);

struct only_moves {
    template <class B, Scalar T>
    void operator()(B&, double, std::span<T>) const {}
    bool operator==(only_moves const&) const = default;
};
static_assert(!Prox<only_moves>);

// What a proximal operator is: no u is better than prox(x) for R(u) + |u - x|^2 / (2 rate).
void is_least(elastic_net const& prox, double rate) {
    host on;
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        auto const random = [&](std::uint64_t n) { return 6 * key{seed}.uniform(n) - 3; };
        std::vector<double> const x{random(0), random(1), random(2)};
        auto const cost = [&](std::vector<double> const& u) {
            double sum = prox.value(std::span<double const>(u));
            for (std::size_t j = 0; j < 3; ++j) sum += (u[j] - x[j]) * (u[j] - x[j]) / (2 * rate);
            return sum;
        };
        auto u = x;
        prox(on, rate, std::span(u));
        double const least = cost(u);
        for (std::uint64_t n = 0; n < 200; ++n) {
            auto other = u;
            double const far = std::pow(10, -4. * key{99}.uniform(n));
            for (std::size_t j = 0; j < 3; ++j) other[j] += far * (key{seed + 100}.uniform(3 * n + j) - .5);
            CHECK(cost(other) >= least - 1e-12);
        }
        CHECK(cost(x) >= least - 1e-12);
        CHECK(cost({0, 0, 0}) >= least - 1e-12);
    }
}

TEST_CASE("by hand") {
    struct by_hand {
        elastic_net prox;
        std::vector<double> x, answer;
        double value = 0;  // R there
    };
    host on;
    for (auto const& [prox, start, answer, value] :
         std::initializer_list<by_hand>{{{2, 0}, {3, -3, .5, -.5, 1, -1, 0}, {2, -2, 0, 0, 0, 0, 0}, 8},
                                        {{0, 4}, {9, -12}, {3, -4}, 50},
                                        {{2, 4}, {10, -13}, {3, -4}, 64},
                                        {{2, 4}, {.5, -1, 4}, {0, 0, 1}, 4},
                                        {{0, 0}, {3, -4}, {3, -4}, 0}}) {
        auto x = start;
        prox(on, .5, std::span(x));
        REQUIRE(x.size() == answer.size());
        for (std::size_t j = 0; j < x.size(); ++j) CHECK(x[j] == doctest::Approx(answer[j]));
        CHECK(prox.value(std::span<double const>(answer)) == value);
    }
    std::vector<float> y{2, -2};
    elastic_net{1, 0}(on, .5, std::span(y));
    CHECK(y == std::vector<float>{1.5f, -1.5f});
    CHECK(to_string(elastic_net{.5, 2}) == "elastic_net(0.5, 2)");
    CHECK(elastic_net{.5, 2} != elastic_net{2, .5});
}

TEST_CASE("the result is the least of what it should minimise") {
    is_least({.7, 0}, .5);
    is_least({3, 0}, 2);
    is_least({0, .7}, .5);
    is_least({0, 3}, 2);
    is_least({.7, .4}, .5);
    is_least({.2, 3}, 2);
    is_least({0, 0}, 1);
}

TEST_CASE("a proximal step: first the step, then the operator at its rate") {
    host on;
    proximal<gradient_step, elastic_net> step{{.5}, {2, 0}, .5};
    std::vector<double> x{5, 1}, d{2, 1};
    step(on, std::span(x), std::span(d));  // (4, 0.5), then 1 off
    CHECK(x == std::vector<double>{3, 0});
}
