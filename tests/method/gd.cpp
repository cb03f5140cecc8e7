// SPDX-License-Identifier: Apache-2.0
// Gradient descent falls by 1 - mu / L a round, along a known trace on real data, with every number sent in full.
#include "laconic/method/gd.hpp"

#include <nlohmann/json.hpp>

#include "support/data.hpp"
#include "support/real_data.hpp"
#include "support/test.hpp"

using namespace laconic;
using namespace toys;

static_assert(Method<gd>);

namespace {

// What optima.json has of heart_scale with lambda = 1 / N.
nlohmann::json known_answers(int ranks) {
    for (auto const& entry : nlohmann::json::parse(*test_text("optima.json")))
        if (entry["data"] == "heart_scale" && entry["lambda_tag"] == "1/N" && entry["workers"] == ranks) return entry;
    throw error("optima.json knows nothing of heart_scale");
}

}  // namespace

TEST_CASE("f - f* falls by 1 - mu/L a round, or faster") {
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
        auto const f = random_ridges(4, 6, 1, seed);
        auto const p = constants(f);
        known_optimum const best(f);
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

TEST_CASE("real data: the optimum and the constants that all theorems are held against are those of optima.json") {
    for (int const ranks : {1, 10}) {
        auto const real = real_data(ranks);
        if (!real) return;
        auto const answers = known_answers(ranks);
        auto const known = [&](char const* name) { return answers[name].get<double>(); };
        CHECK(real->best.value == doctest::Approx(known("f_star")).epsilon(1e-13));
        CHECK(mean_value(real->f, real->best.x) == doctest::Approx(known("f_star")).epsilon(1e-13));
        CHECK(real->p.smoothness == doctest::Approx(known("L")).epsilon(1e-12));
        CHECK(real->p.largest_smoothness == doctest::Approx(known("L_i_max")).epsilon(1e-12));
        CHECK(real->p.strong_convexity == doctest::Approx(known("mu")).epsilon(1e-15));
        CHECK(real->p.samples == 270 / std::size_t(ranks));
        // Two points with small gradients are close: |x - y| <= (|grad f(x)| + |grad f(y)|) / mu.
        double const rest = std::sqrt(norm2(mean_of(real->best.gradients)));
        double const close = (known("grad_norm") + rest + 1e-15) / known("mu");
        CHECK(std::abs(std::sqrt(norm2(real->best.x)) - known("norm_x_star")) <= close);
        for (std::size_t j = 0; j < 5; ++j)
            CHECK(std::abs(real->best.x[j] - answers["x_star_first5"][j].get<double>()) <= close);
        if (ranks == 1) continue;
        CHECK(real->best.disagreement() > .001);  // these workers differ
        for (auto const& g : gradients(made_to_agree(*real), real->best.x)) CHECK(norm2(g) == 0);
    }
}

TEST_CASE("real data: the gap falls by 1 - mu/L every round, and is the known one after 1, 10, 100 and 1000") {
    auto const real = real_data(10);
    if (!real) return;
    auto const& p = real->p;
    lockstep run(composed(gd{}, p), real->f, vec(p.dimension, 0.0), 1);
    double gap = mean_value(real->f, run.x()) - real->best.value, worst = -1;
    auto const answers = known_answers(10);
    std::size_t found = 0;
    for (std::size_t k = 1; k <= 1000; ++k) {
        run.round();
        double const next = mean_value(real->f, run.x()) - real->best.value;
        worst = std::max(worst, next - (1 - p.strong_convexity / p.smoothness) * gap);
        if (auto const& known = answers["gd_step_1_over_L"]; known.contains(std::to_string(k))) {
            CHECK(std::abs(next - known[std::to_string(k)].get<double>()) <= 1e-12 * real->best.value);
            ++found;
        }
        gap = next;
    }
    CHECK(worst <= 1e-14);
    CHECK(found == 4);
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
    CHECK(states[1].residual[0].empty());
}

TEST_CASE("its step, and wrong arguments refused with the reason") {
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

TEST_CASE("its text has its arguments") {
    CHECK(to_string(gd{}) == "gd");
    CHECK(to_string(gd{{.step = step_size{.5, true}}}) == "gd(step=0.5/L)");
}
