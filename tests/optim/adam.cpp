// SPDX-License-Identifier: Apache-2.0
// Adam's steps are those by hand; its state is saved; it refuses what is out of range.
#include "laconic/optim/adam.hpp"

#include "support/everything.hpp"
#include "support/states.hpp"

using namespace laconic;

static_assert(Step<adam<>> && Step<adam<float>, float>);
static_assert(detail::HasRateFunction<adam<>>);

TEST_CASE("two steps by hand") {
    host on;
    adam<> step(.5, .5, .75, 1);
    std::vector<double> x{0, 1}, d{4, -2};
    step(on, std::span(x), std::span(d));
    // m = (2, -1), v = (4, 1); corrected they are (4, -2) and (16, 4).
    CHECK(x[0] == doctest::Approx(-.5 * 4 / (4 + 1)));
    CHECK(x[1] == doctest::Approx(1 + .5 * 2 / (2 + 1)));
    d = {0, 2};
    auto const before = x;
    step(on, std::span(x), std::span(d));
    // m = (1, 0.5), v = (3, 1.75); the corrections are 3/4 and 7/16.
    CHECK(x[0] - before[0] == doctest::Approx(-.5 * (1 / .75) / (std::sqrt(3 * 16 / 7.) + 1)));
    CHECK(x[1] - before[1] == doctest::Approx(-.5 * (.5 / .75) / (std::sqrt(1.75 * 16 / 7.) + 1)));
    CHECK(step.mean()[1] == .5);
    CHECK(step.square()[0] == 3);
}

TEST_CASE("the first step moves each coordinate by about the rate, whatever the scale of the gradient") {
    host on;
    adam<float> step(.01);
    std::vector<float> x{1, 1, 1}, d{1e-3f, -1e4f, 0};
    step(on, std::span(x), std::span(d));
    CHECK(x[0] == doctest::Approx(.99));
    CHECK(x[1] == doctest::Approx(1.01));
    CHECK(x[2] == 1);
}

TEST_CASE("a restored Adam goes on bit for bit") {
    host on;
    adam<> one(.1), other(.1);
    std::vector<double> x{1, 2}, d{3, -4};
    one(on, std::span(x), std::span(d));
    restore_from(one, other);
    auto y = x;
    for (int k = 0; k < 3; ++k) {
        d = {double(k), 1.5};
        one(on, std::span(x), std::span(d));
        other(on, std::span(y), std::span(d));
    }
    CHECK(x == y);
}

TEST_CASE("parameters out of range") {
    CHECK_THROWS_AS(adam<>(.1, 1), argument_error);
    CHECK_THROWS_AS(adam<>(.1, .9, -.1), argument_error);
    CHECK_THROWS_AS(adam<>(.1, .9, .99, 0), argument_error);
    CHECK(to_string(adam<>(.1)) == "adam(0.1, beta1=0.9, beta2=0.999, epsilon=1e-08)");
}
