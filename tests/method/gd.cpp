// SPDX-License-Identifier: Apache-2.0
#include "laconic/method/gd.hpp"

#include <doctest/doctest.h>

#include <cmath>

#include "toys.hpp"

using namespace laconic;
using namespace toys;

TEST_CASE("f - f* falls by 1 - mu/L a round, or faster") {
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
        auto const f = random_ridges(4, 6, 1, seed);
        auto const p = constants(f);
        optimum const best(f);
        auto const whole = mean_of(f);
        auto const states = history(composed(gd{}, p), f, vec(6, 3.0), 60);
        double gap = whole.value(states[0].x[0]) - best.value;
        for (std::size_t k = 1; k <= 60; ++k) {
            double const next = whole.value(states[k].x[0]) - best.value;
            CHECK(next <= (1 - p.strong_convexity / p.smoothness) * gap + 1e-13);
            CHECK(next < gap);
            gap = next;
        }
    }
}

TEST_CASE("on the example of Beznosikov et al., known to five digits") {
    auto const f = beznosikov();
    lockstep run(composed(gd{}, f), f, vec(3, 1.0), 1);
    run.rounds(100);
    CHECK(mean_of(f).value(run.x()) == doctest::Approx(1.3485e-6).epsilon(1e-4));
}

TEST_CASE("one step by hand, and every number in full on the wire") {
    auto const f = around({{3, 4}, {-1, -6}});  // mean (1, -1)
    auto const states = history(composed(gd{{.step = .5}}, f), f, vec{5, 1}, 1);
    for (auto const& x : states[1].x) CHECK(x == vec{3, 0});
    for (auto const& bytes : states[1].bytes) CHECK(bytes.size() == 16);
    CHECK(states[1].known[0].empty());
    CHECK(states[1].unsaid[0].empty());
}

TEST_CASE("its step, and what it refuses") {
    problem const p{8, 5, 4, .5, 7, 6};
    CHECK(composed(gd{}, p).step.rate == .25);
    CHECK(composed(gd{{.step = step_size{2, true}}}, p).step.rate == .5);
    CHECK(composed(gd{{.step = .1}}, problem{}).step.rate == .1);
    CHECK_THROWS_WITH_AS(composed(gd{}, problem{}), doctest::Contains("gd: its theorem needs the smoothness L"),
                         theory_error);
    CHECK_THROWS_WITH_AS(composed(gd{{.step = 0.}}, p), "gd: the step 0 is not above 0", argument_error);
    CHECK_THROWS_AS(composed(gd{{.step = HUGE_VAL}}, p), argument_error);
    CHECK_THROWS_WITH_AS(composed(gd{{.batch = 2}}, p), doctest::Contains("a batch goes with sgd"), argument_error);
}

TEST_CASE("as it is written") {
    CHECK(to_string(gd{}) == "gd");
    CHECK(to_string(gd{{.step = step_size{.5, true}}}) == "gd(step=0.5/L)");
}
