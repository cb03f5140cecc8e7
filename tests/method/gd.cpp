// SPDX-License-Identifier: Apache-2.0
// The real problem is that of optima.json, and gradient descent has the gaps that are known of it.
#include "laconic/method/gd.hpp"

#include <nlohmann/json.hpp>

#include "support/data.hpp"
#include "support/everything.hpp"
#include "support/tasks.hpp"

using namespace laconic;
using namespace toys;

// What optima.json has of heart_scale with lambda = 1 / N.
nlohmann::json known_answers(int ranks) {
    for (auto const& entry : nlohmann::json::parse(*test_text("optima.json")))
        if (entry["data"] == "heart_scale" && entry["lambda_tag"] == "1/N" && entry["workers"] == ranks) return entry;
    throw error("optima.json knows nothing of heart_scale");
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

TEST_CASE("real data: the gap of gradient descent is the known one after 1, 10, 100 and 1000 rounds") {
    auto const all = tasks(10);
    if (all.size() == 1) return;
    auto const& t = all[1];
    any_run run(named("gd", t.p), t.f, t.start, 1);
    auto const answers = known_answers(10);
    std::size_t done = 0;
    for (std::size_t const k : {1u, 10u, 100u, 1000u}) {
        run.rounds(k - std::exchange(done, k));
        double const known = answers["gd_step_1_over_L"].at(std::to_string(k)).get<double>();
        CHECK(std::abs(t.gap(run.x()) - known) <= 1e-12 * t.best.value);
    }
}
