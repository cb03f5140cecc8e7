// SPDX-License-Identifier: Apache-2.0
#include "laconic/method/gd_sec.hpp"

#include <doctest/doctest.h>

#include <cmath>

#include "laconic/method/gd.hpp"
#include "toys.hpp"

using namespace laconic;
using namespace toys;

// The paper minimises the sum of M functions; here f is their mean. Its step alpha is our step / M, its L is M times
// ours, its threshold xi / M is our xi L: so our xi is its xi over its L.

namespace {

workers two() {
    Eigen::Vector2d const diagonal(1, 10);
    Eigen::Matrix2d const h = diagonal.asDiagonal().toDenseMatrix();
    return {{h, Eigen::Vector2d(1, 20), 20.5}, {h, Eigen::Vector2d(-3, 10), 9.5}};
}

gd_sec as_in_the_paper(double xi, double beta) { return {xi / 20, {.step = .04 * 2, .memory = beta}}; }

}  // namespace

TEST_CASE("the known trace, with what is said and what is kept") {
    auto const f = two();
    CHECK(constants(f).smoothness == doctest::Approx(10));
    auto const states = history(composed(as_in_the_paper(21, .5), f), f, vec{0, 0}, 5);
    vec const theta[] = {{0, 0}, {-.08, 1.2}, {-.1768, 1.8}, {-.194928, 1.2}, {-.28652288, 1.2}, {-.35395232, 1.68}};
    vec const said[2][5] = {{{-1, -20}, {0, 0}, {-1.2568, 10}, {0, 0}, {0, -6}},
                            {{3, -10}, {1.42, 0}, {0, 20}, {1.208272, 0}, {0, -6}}};
    for (std::size_t k = 0; k <= 5; ++k) {
        CAPTURE(k);
        for (auto const& x : states[k].x) CHECK(std::sqrt(distance2(x, theta[k])) < 1e-12);
        if (k == 5) break;
        for (std::size_t m = 0; m < 2; ++m)
            for (std::size_t j = 0; j < 2; ++j)  // h grew by half of it
                CHECK(std::abs(2 * (states[k + 1].known[m][j] - states[k].known[m][j]) - said[m][k][j]) < 1e-12);
    }
    CHECK(std::sqrt(distance2(states[2].unsaid[0], vec{-.58, 2})) < 1e-12);
    CHECK(std::sqrt(distance2(states[2].unsaid[1], vec{0, 7})) < 1e-12);
    CHECK(std::sqrt(distance2(states[3].unsaid[1], vec{.6132, 0})) < 1e-12);
    CHECK(states[1].unsaid[0] == vec{0, 0});
}

TEST_CASE("these parameters are unsafe, and diverge; safe ones are as quick as gradient descent") {
    auto const f = two();
    lockstep unsafe(composed(as_in_the_paper(21, .5), f), f, {0, 0}, 1);
    unsafe.rounds(400);
    CHECK(unsafe.x()[1] == doctest::Approx(-3e22).epsilon(.2));
    CHECK(std::abs(unsafe.x()[0] + 1) < 1);

    auto const rounds_to_optimum = [&](auto const& recursion) {
        lockstep run(recursion, f, {0, 0}, 1);
        int k = 0;
        for (; k < 1000 && distance2(run.x(), vec{-1, 1.5}) >= 1e-20; ++k) run.round();
        return k;
    };
    CHECK(rounds_to_optimum(composed(gd{{.step = .08}}, f)) == 277);
    for (double const beta : {0., .01, 1.}) CHECK(rounds_to_optimum(composed(as_in_the_paper(5.6, beta), f)) == 277);
    CHECK(rounds_to_optimum(composed(as_in_the_paper(5.6, .5), f)) == 278);
    CHECK(rounds_to_optimum(composed(as_in_the_paper(2, .5), f)) == 277);
}

TEST_CASE("within the safe bound the Lyapunov function falls by 1 - step mu every round, for every beta") {
    for (std::uint64_t seed = 1; seed <= 3; ++seed)
        for (double const q : {.1, .5, .8})
            for (double const beta : {0., .01, .5, 1.}) {
                CAPTURE(seed);
                CAPTURE(q);
                CAPTURE(beta);
                auto const f = random_ridges(5, 12, 1, seed);
                auto const p = constants(f);
                optimum const best(f);
                auto const whole = mean_of(f);
                double const step = (1 - q) / p.smoothness, c = step * p.strong_convexity;
                double const xi = std::sqrt(q / (2 * (1 - q) * (1 - q)) / (1 / (1 - c) + 1 / ((1 - c) * (1 - c))));
                // For the sum: everything below times M, the step over M, xi over L as it is.
                double const big_l = 5 * p.smoothness, alpha = step / 5, big_xi = xi * big_l;
                double const b2 = alpha * big_xi * big_xi / (1 - c), b1 = (alpha * big_xi * big_xi + b2) / (1 - c);
                lockstep run(composed(gd_sec{xi, {.step = step, .memory = beta}}, p), f, vec(12, 1.0), 1);
                vec last = run.x(), before_last = last;
                auto const lyapunov = [&] {
                    return 5 * (whole.value(run.x()) - best.value) + b1 * distance2(run.x(), last) +
                           b2 * distance2(last, before_last);
                };
                double v = lyapunov(), worst = -1;
                std::size_t unsaid = 0;
                for (int k = 0; k < 200; ++k) {
                    before_last = last;
                    last = run.x();
                    run.round();
                    double const next = lyapunov();
                    worst = std::max(worst, next - (1 - c) * v);
                    v = next;
                    for (std::size_t i = 0; i < 5; ++i)
                        for (double const e : run.unsaid(i)) unsaid += e != 0;
                }
                CHECK(worst <= 1e-11);
                CHECK(unsaid > 20);  // it does hold something back
            }
}

TEST_CASE("x - step mean e takes uncompressed steps, and no error is above its bound") {
    auto const f = random_ridges(4, 6, 1, 5);
    auto const p = constants(f);
    gd_sec const method{3, {.memory = .01}};
    auto const states = history(composed(method, p), f, vec(6, 1.0), 60);
    auto const whole = mean_of(f);
    double const step = 1 / p.smoothness;
    auto const virtual_iterate = [&](std::size_t k) {
        vec v = states[k].x[0];
        auto const e = mean_of(states[k].unsaid);
        for (std::size_t j = 0; j < 6; ++j) v[j] -= step * e[j];
        return v;
    };
    for (std::size_t k = 0; k < 60; ++k) {
        vec expected = virtual_iterate(k), g(6);
        whole.gradient(states[k].x[0], g);
        for (std::size_t j = 0; j < 6; ++j) expected[j] -= step * g[j];
        CHECK(std::sqrt(distance2(virtual_iterate(k + 1), expected)) < 1e-12);
        for (auto const& e : states[k + 1].unsaid)
            for (std::size_t j = 0; j < 6; ++j) {
                double const moved = k == 0 ? 0 : std::abs(states[k].x[0][j] - states[k - 1].x[0][j]);
                CHECK(std::abs(e[j]) <= 3 * p.smoothness * moved * (1 + 1e-12));
            }
        auto const mean = mean_of(states[k + 1].known);
        CHECK(std::sqrt(distance2(states[k + 1].mean_known[2], mean)) < 1e-13 * (1 + std::sqrt(norm2(mean))));
    }
    std::size_t first = 0, later = 0;
    for (std::size_t i = 0; i < 4; ++i) {
        first += states[1].bytes[i].size();
        later += states[30].bytes[i].size();
    }
    CHECK(later < first);
}

namespace {

struct course {
    std::size_t rounds = 0, values = 0;
    double gap = 0;
};

// Rounds, and numbers said by all, until f - f* < 1e-10, or until there have been too many rounds.
template <class R>
course run_to_optimum(R const& recursion, workers const& f, std::size_t most) {
    optimum const best(f);
    auto const whole = mean_of(f);
    lockstep run(recursion, f, vec(best.x.size(), 0.0), 1);
    course c;
    for (;; ++c.rounds) {
        c.gap = whole.value(run.x()) - best.value;
        if (c.gap < 1e-10 || c.rounds == most || !(c.gap < 1e12)) return c;
        run.round();
        for (std::size_t i = 0; i < f.size(); ++i) c.values += run.message_of_rank(i).support.size();
    }
}

}  // namespace

TEST_CASE("what is remembered and what is kept are both needed: without one of them it says little and gets stuck") {
    // On random_ridges, kappa = 72.
    auto const f = random_ridges(5, 16, .3, 3);
    auto const p = constants(f);
    auto const dense = run_to_optimum(composed(gd_sec{0, {}}, p), f, 1000);
    auto const sparse = run_to_optimum(composed(gd_sec{50, {}}, p), f, 2000);
    auto careless = composed(gd_sec{50, {}}, p);
    careless.feedback = memory<>(.01, false);
    auto const without_memory = run_to_optimum(composed(gd_sec{50, {.memory = 0.}}, p), f, 3000);
    auto const without_errors = run_to_optimum(careless, f, 3000);
    CHECK(dense.rounds == 616);
    CHECK(dense.values == 616 * 5 * 16);
    CHECK(sparse.gap < 1e-10);
    CHECK(sparse.rounds < 2 * dense.rounds);
    CHECK(2 * sparse.values < dense.values);
    CHECK(without_memory.gap > 1e-3);
    CHECK(without_errors.gap > 1e-3);
    // Nor do steps that a theorem covers save as much.
    double const q = .5, step = (1 - q) / p.smoothness, c = step * p.strong_convexity;
    double const xi = std::sqrt(q / (2 * (1 - q) * (1 - q)) / (1 / (1 - c) + 1 / ((1 - c) * (1 - c))));
    auto const safe = run_to_optimum(composed(gd_sec{xi, {.step = step, .memory = .5}}, p), f, 3000);
    CHECK(safe.gap < 1e-10);
    CHECK(2 * safe.values > 3 * sparse.values);
    CHECK(safe.values < 2 * dense.values);
}

TEST_CASE("without a threshold it is gradient descent") {
    auto const f = random_ridges(4, 5, 1, 8);
    auto const p = constants(f);
    auto const gradient = history(composed(gd{}, p), f, vec(5, 1.0), 60);
    auto const none = history(composed(gd_sec{0, {}}, p), f, vec(5, 1.0), 60);
    for (std::size_t k = 0; k <= 60; ++k) {
        CHECK(std::sqrt(distance2(gradient[k].x[0], none[k].x[0])) < 1e-12);
        for (auto const& e : none[k].unsaid) CHECK(e == vec(5, 0.0));
    }
}

TEST_CASE("its numbers, by hand") {
    problem const p{8, 5, 4, .5, 9, 6};
    auto const r = composed(gd_sec{100, {}}, p);
    CHECK(r.step.rate == .25);
    CHECK(r.feedback.rate() == .01);
    CHECK(r.feedback.keeps_unsaid());
    CHECK(r.scale == 1);
    auto level = r.level;
    auto compressor = r.compressor;
    host on;
    vec const x{0, 0, 0, 0, 0, 0, 0, 0}, y{.5, -1, 0, 0, 0, 0, 0, 2};
    level.tune(on, compressor, occasion{}, std::span<double const>(x), std::span<double const>(x));
    CHECK(copied(compressor.bound) == vec(8, 0.0));
    level.said(on, std::span<double const>(x), 0);
    level.tune(on, compressor, occasion{}, std::span<double const>(y), std::span<double const>(x));
    CHECK(copied(compressor.bound) == vec{200, 400, 0, 0, 0, 0, 0, 800});
    CHECK(composed(gd_sec{100, {.step = .5, .memory = 0.}}, p).feedback.rate() == 0);
    CHECK(composed(gd_sec{0, {.step = .5}}, problem{}).step.rate == .5);
}

TEST_CASE("what it refuses") {
    problem const p{8, 5, 4, .5, 9, 6};
    CHECK_THROWS_WITH_AS(composed(gd_sec{-1, {}}, p), doctest::Contains("xi = -1"), argument_error);
    CHECK_THROWS_AS(composed(gd_sec{std::nan(""), {}}, p), argument_error);
    CHECK_THROWS_WITH_AS(composed(gd_sec{1, {.memory = 1.5}}, p), doctest::Contains("beta = 1.5"), argument_error);
    CHECK_THROWS_AS(composed(gd_sec{1, {.memory = -.5}}, p), argument_error);
    CHECK_THROWS_AS(composed(gd_sec{1, {.step = 0.}}, p), argument_error);
    CHECK_THROWS_WITH_AS(composed(gd_sec{1, {.step = .5}}, problem{}), doctest::Contains("smoothness L"), theory_error);
    CHECK_THROWS_AS(composed(gd_sec{}, problem{}), theory_error);
}

TEST_CASE("as it is written") {
    CHECK(to_string(gd_sec{}) == "gd_sec(xi=100, beta=0.01)");
    CHECK(to_string(gd_sec{5, {.step = step_size{.5, true}, .memory = .5}}) == "gd_sec(xi=5, beta=0.5, step=0.5/L)");
    CHECK(to_string(gd_sec{5, {.batch = 3}}) == "gd_sec(xi=5, beta=0.01, batch=3)");
}
