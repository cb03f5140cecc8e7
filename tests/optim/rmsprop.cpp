// SPDX-License-Identifier: Apache-2.0
// RMSProp by hand, where its mean squares start at 1; and its state.
#include "laconic/optim/rmsprop.hpp"

#include "support/everything.hpp"
#include "support/states.hpp"

using namespace laconic;

static_assert(Step<rmsprop<>> && Step<rmsprop<float>, float>);

TEST_CASE("rmsprop: two steps by hand") {
    host on;
    rmsprop<> step(0.5, 0.75, 1e-10);
    std::vector<double> x{0, 8, 1}, d{2, -1, 0};
    step(on, std::span(x), std::span(d));  // s = (1.75, 1, 0.75)
    CHECK(x[0] == doctest::Approx(-1 / std::sqrt(1.75)).epsilon(1e-9));
    CHECK(x[1] == doctest::Approx(8.5).epsilon(1e-9));
    CHECK(x[2] == 1);
    CHECK(std::vector<double>(step.squares().begin(), step.squares().end()) == std::vector<double>{1.75, 1, 0.75});
    d = {0, 3, 0};
    step(on, std::span(x), std::span(d));  // s = (1.3125, 3, 0.5625)
    CHECK(x[0] == doctest::Approx(-1 / std::sqrt(1.75)).epsilon(1e-9));
    CHECK(x[1] == doctest::Approx(8.5 - 1.5 / std::sqrt(3.)).epsilon(1e-9));
}

TEST_CASE("rmsprop: epsilon stands below the root, and the defaults are TensorFlow's") {
    host on;
    rmsprop<> step(1, 0, 3);
    std::vector<double> x{0}, d{1};
    step(on, std::span(x), std::span(d));
    CHECK(x[0] == -0.5);
    CHECK(to_string(rmsprop<>{}) == "rmsprop(0.001, 0.9, 1e-10)");
    CHECK(rmsprop<>{0.25}.rate() == 0.25);
}

TEST_CASE("rmsprop: its state is the mean squares; what makes no step is refused") {
    host on;
    rmsprop<> saved(0.5), restored(0.5);
    std::vector<double> x{0, 8}, d{2, -1}, y = x;
    saved(on, std::span(x), std::span(d));
    y = x;
    restore_from(saved, restored);
    saved(on, std::span(x), std::span(d));
    restored(on, std::span(y), std::span(d));
    CHECK(x == y);
    for (double const decay : {-0.1, 1., std::nan("")}) CHECK_THROWS_AS(rmsprop<>(1, decay), argument_error);
    for (double const epsilon : {0., -1., std::nan("")}) CHECK_THROWS_AS(rmsprop<>(1, 0.9, epsilon), argument_error);
}
