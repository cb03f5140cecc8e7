// SPDX-License-Identifier: Apache-2.0
// LAG-WK falls at the rate of its theorem while ranks with little to send are silent, and reaches the optimum.
#include "laconic/method/lag_wk.hpp"

#include "laconic/method/gd.hpp"
#include "support/lag.hpp"
#include "support/real_data.hpp"
#include "support/test.hpp"

using namespace laconic;
using namespace toys;

static_assert(Method<lag_wk>);

TEST_CASE(
    "its Lyapunov function falls by 1 - step mu / 2 every round, and no rank sends nothing that has much to send") {
    auto const f = random_ridges(5, 12, 1, 1);
    auto const p = constants(f);
    std::size_t uploads_before = 5 * 200;
    for (double const r : {.1, .5, .9}) {
        CAPTURE(r);
        auto const recursion = composed(lag_wk{r / 10, 10, {}}, p);
        CHECK(recursion.step.rate == doctest::Approx((1 - std::sqrt(r)) / p.smoothness));
        auto const course = run_lag(std::vector(5, recursion), r / 10, f, p, known_optimum(f), vec(12, 1.0), 200);
        CHECK(course.quiet);
        CHECK(course.excess <= 1e-11);
        CHECK(course.uploads < uploads_before);
        uploads_before = course.uploads;
    }
    CHECK(uploads_before < 300);
}

TEST_CASE("real data: the same, every round") {
    auto const real = real_data(10);
    if (!real) return;
    auto const& p = real->p;
    for (double const r : {.1, .5, .9}) {
        CAPTURE(r);
        auto const recursion = composed(lag_wk{r / 10, 10, {}}, p);
        auto const course = run_lag(std::vector(10, recursion), r / 10, real->f, p, real->best, vec(13, 0.0), 300);
        CHECK(course.quiet);
        CHECK(course.excess <= 1e-14);
        CHECK(course.uploads < 10 * 300 / 2);
        CHECK(course.gaps.back() < .5 * course.gaps[30]);
    }
}

TEST_CASE("xi = 0 is gradient descent") {
    auto const f = random_ridges(4, 5, 1, 8);
    auto const p = constants(f);
    auto const gradient = history(composed(gd{}, p), f, vec(5, 1.0), 60);
    auto const none = history(composed(lag_wk{0, 10, {}}, p), f, vec(5, 1.0), 60);
    for (std::size_t k = 0; k <= 60; ++k) CHECK(std::sqrt(distance2(gradient[k].x[0], none[k].x[0])) < 1e-12);
}

TEST_CASE("it reaches the optimum with fewer uploads, the most from the ranks that are curved most") {
    workers f;  // L_i = 1, 4, 9, .. 49
    for (int i = 0; i < 7; ++i) {
        auto q = random_ridges(1, 8, .5, 20 + std::uint64_t(i))[0];
        double const scale = square(i + 1) / q.smoothness();
        f.push_back({q.h * scale, q.b * scale, 0});
    }
    auto const p = constants(f);
    known_optimum const best(f);
    auto const whole = mean_of(f);
    auto const run_to_optimum = [&](auto const& recursion, std::vector<std::size_t>& uploads) {
        lockstep run(recursion, f, vec(8, 0.0), 1);
        std::size_t rounds = 0;
        for (; rounds < 3000 && whole.value(run.x()) - best.value > 1e-9; ++rounds) {
            run.round();
            for (std::size_t i = 0; i < 7; ++i) uploads[i] += !run.message_of_rank(i).support.empty();
        }
        return rounds;
    };
    std::vector<std::size_t> always(7), lazily(7);
    rates const as_gd{.step = 1 / p.smoothness};
    auto const rounds = run_to_optimum(composed(lag_wk{0, 10, as_gd}, p), always);
    auto const lazy_rounds = run_to_optimum(composed(lag_wk{.1, 10, as_gd}, p), lazily);
    CHECK(rounds < 3000);
    CHECK(always == std::vector<std::size_t>(7, rounds));
    CHECK(lazy_rounds < 2 * rounds);
    CHECK(std::accumulate(lazily.begin(), lazily.end(), 0u) < 7 * rounds / 2);
    CHECK(lazily[0] < lazily[6] / 2);
}

TEST_CASE("its numbers by hand, and its text") {
    problem const p{8, 5, 4, .5, 9, 6};
    auto const r = lag_wk{.01, 25, {}}.compose<double, host>(p);
    CHECK(r.step.rate == .125);
    CHECK(r.feedback.rate() == 1);
    CHECK_FALSE(r.feedback.keeps_residual());
    CHECK(to_string(r.level) == "lag(xi=0.01, D=25, step=0.125, by delta)");
    CHECK(lag_wk{1, 25, {.step = .5}}.compose<double, host>(problem{}).step.rate == .5);
    CHECK(to_string(lag_wk{}) == "lag_wk(xi=0.05, D=10)");
    CHECK(to_string(lag_wk{.1, 3, {.step = .5}}) == "lag_wk(xi=0.1, D=3, step=0.5)");
}

TEST_CASE("wrong arguments are refused with the reason") {
    problem const p{8, 5, 4, .5, 9, 6};
    auto const compose = [&](lag_wk const& m) { return m.compose<double, host>(p); };
    CHECK_THROWS_WITH_AS(compose({.1, 10, {}}), doctest::Contains("D xi = 1 is not below 1"), theory_error);
    CHECK_THROWS_WITH_AS(compose({-.1, 10, {}}), doctest::Contains("xi = -0.1"), argument_error);
    CHECK_THROWS_AS(compose({std::nan(""), 10, {}}), argument_error);
    CHECK_THROWS_WITH_AS(compose({.1, 0, {}}), doctest::Contains("D = 0"), argument_error);
    CHECK_THROWS_WITH_AS(compose({.1, 1, {.batch = 2}}), doctest::Contains("batch = 2"), argument_error);
    CHECK_THROWS_WITH_AS(compose({.1, 1, {.memory = .5}}), doctest::Contains("memory"), argument_error);
    CHECK_THROWS_AS((lag_wk{}.compose<double, host>(problem{})), theory_error);
}
