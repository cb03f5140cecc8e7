// SPDX-License-Identifier: Apache-2.0
// Momentum steps are those by hand, the gradient step without beta, and quicker on badly conditioned functions.
#include "laconic/optim/momentum.hpp"

#include "support/everything.hpp"
#include "support/states.hpp"

using namespace laconic;

static_assert(Step<momentum<>> && Step<momentum<float>, float>);

TEST_CASE("three steps by hand") {
    host on;
    momentum<> step(.5, .25);
    std::vector<double> x{0, 8}, d{4, -8};
    step(on, std::span(x), std::span(d));  // v = (4, -8)
    CHECK(x == std::vector<double>{-2, 12});
    step(on, std::span(x), std::span(d));  // v = (5, -10)
    CHECK(x == std::vector<double>{-4.5, 17});
    d = {0, 0};
    step(on, std::span(x), std::span(d));  // v = (1.25, -2.5)
    CHECK(x == std::vector<double>{-5.125, 18.25});
    CHECK(std::vector<double>(step.velocity().begin(), step.velocity().end()) == std::vector<double>{1.25, -2.5});
}

TEST_CASE("without beta it is the gradient step") {
    host on;
    momentum<float> heavy(.1, 0);
    std::vector<float> x{1, 2, 3}, y = x, d{.3f, -.7f, 2};
    for (int k = 0; k < 5; ++k) {
        heavy(on, std::span(x), std::span(d));
        gradient_step{.1}(on, std::span(y), std::span(d));
    }
    CHECK(x == y);
}

TEST_CASE("on a badly conditioned bowl it is quicker than the gradient step") {
    host on;
    double const l = 1000, root = std::sqrt(l);  // Polyak's step and beta for mu = 1
    momentum<> heavy(4 / ((root + 1) * (root + 1)), (root - 1) * (root - 1) / ((root + 1) * (root + 1)));
    gradient_step const plain{2 / (l + 1)};
    std::vector<double> x{1, 1}, y{1, 1}, d(2);
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

TEST_CASE("its state is the velocity; its numbers are its own") {
    host on;
    momentum<> saved(.5, .25), restored(.5, .25);
    std::vector<double> x{0, 8}, d{4, -8};
    saved(on, std::span(x), std::span(d));
    restore_from(saved, restored);
    CHECK(std::vector<double>(restored.velocity().begin(), restored.velocity().end()) == std::vector<double>{4, -8});
    restored(on, std::span(x), std::span(d));
    CHECK(x == std::vector<double>{-4.5, 17});  // as in the second step above
    CHECK(to_string(restored) == "momentum(0.5, 0.25)");
}
