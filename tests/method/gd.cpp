// SPDX-License-Identifier: Apache-2.0
// The real problem is that of optima.json, and gradient descent has the gaps that are known of it.
#include "laconic/method/gd.hpp"

#include <nlohmann/json.hpp>

#include "support/data.hpp"
#include "support/everything.hpp"
#include "support/tasks.hpp"

using namespace toys;

TEST_CASE("real data: the gap of gradient descent is the known one after 1, 10, 100 and 1000 rounds") {
    auto const all = tasks(10);
    if (all.size() == 1) return;
    auto const& t = all[1];
    any_run run(named("gd", t.p), t.f, t.start, 1);
    nlohmann::json answers;
    for (auto const& entry : nlohmann::json::parse(*test_text("optima.json")))
        if (entry["data"] == "heart_scale" && entry["lambda_tag"] == "1/N" && entry["workers"] == 10) answers = entry;
    CHECK(t.best.value == doctest::Approx(answers["f_star"].get<double>()).epsilon(1e-13));
    std::size_t done = 0;
    for (std::size_t const k : {1u, 10u, 100u, 1000u}) {
        run.rounds(k - std::exchange(done, k));
        double const known = answers["gd_step_1_over_L"].at(std::to_string(k)).get<double>();
        CHECK(std::abs(t.gap(run.x()) - known) <= 1e-12 * t.best.value);
    }
}
