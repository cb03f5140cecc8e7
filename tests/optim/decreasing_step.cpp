// SPDX-License-Identifier: Apache-2.0
// The step of 1 / (a + c t) takes the lengths of its formula, averages noise, and saves how often it moved.
#include "laconic/optim/decreasing_step.hpp"

#include "support/everything.hpp"

using namespace laconic;

static_assert(Step<decreasing_step> && Step<decreasing_step, float>);

TEST_CASE("three steps by hand: 1/2, 1/4, 1/6") {
    host on;
    decreasing_step step(2, 2);
    std::vector<double> x{12, 0}, d{12, -24};
    CHECK(step.rate() == .5);
    step(on, std::span(x), std::span(d));
    CHECK(x == std::vector<double>{6, 12});
    step(on, std::span(x), std::span(d));
    CHECK(x == std::vector<double>{3, 18});
    step(on, std::span(x), std::span(d));
    CHECK(x == std::vector<double>{1, 22});
    CHECK(to_string(step) == "decreasing_step(2, 2)");
}

TEST_CASE("without c it is the gradient step") {
    host on;
    decreasing_step step(8, 0);
    std::vector<float> x{1, 2, 3}, y = x, d{.3f, -.7f, 2};
    for (int k = 0; k < 5; ++k) {
        step(on, std::span(x), std::span(d));
        gradient_step{.125}(on, std::span(y), std::span(d));
    }
    CHECK(x == y);
}

TEST_CASE("the number of steps taken is its state") {
    host on;
    decreasing_step first(1, 1), second(1, 1);
    std::vector<double> x{1}, d{1};
    for (int k = 0; k < 7; ++k) first(on, std::span(x), std::span(d));
    wire::state_writer out("a step");
    out(first);
    auto const bytes = out.finish();
    wire::state_reader in(bytes, "a step");
    in(second);
    CHECK(second.rate() == 1);
    in.rewind();
    in(second);
    CHECK(second.rate() == 1. / 8);
}

TEST_CASE("steps 1 / (1 + t) come to the mean of noisy targets") {
    host on;
    decreasing_step shrinking(1, 1);
    std::vector<double> x{0}, d(1);
    double mean = 0;
    for (int t = 0; t < 1000; ++t) {
        double const target = t * 37 % 101;
        mean += target / 1000;
        d[0] = x[0] - target;
        shrinking(on, std::span(x), std::span(d));
    }
    CHECK(x[0] == doctest::Approx(mean).epsilon(1e-12));
}
