// SPDX-License-Identifier: Apache-2.0
// ISEGA is DIANA with random blocks, with the longer of two theorems' steps, and falls at the rate of either.
#include "laconic/method/isega.hpp"

#include "laconic/compress/rand_k.hpp"
#include "support/real_data.hpp"
#include "support/test.hpp"

using namespace laconic;
using namespace toys;

static_assert(Method<isega<>>);

TEST_CASE("it is diana with random blocks and memory rate tau, bit for bit") {
    auto const f = random_ridges(3, 10, 1, 3);
    auto const p = constants(f);
    auto const a = history(isega{2, 3}.compose<double, host>(p), f, vec(10, 1.0), 100, 7);
    double const step = isega{2, 3}.compose<double, host>(p).step.rate;
    auto const b = history(diana{rand_block{2, 3}, {.step = step, .memory = .5}}.compose<double, host>(p), f,
                           vec(10, 1.0), 100, 7);
    for (std::size_t k = 0; k <= 100; ++k) {
        CHECK(a[k].x == b[k].x);
        CHECK(a[k].bytes == b[k].bytes);
        CHECK(a[k].known == b[k].known);
    }
}

TEST_CASE("its two steps, by hand: the longer is taken") {
    problem const p{16, 8, 5, .5, 6, 6, .25};
    double const tau = .25;  // omega = 3
    double const papers = std::min(1 / (24 * (1 + 1 / 2.)), 1 / (.5 / tau + 24 / 2.));
    double const dianas = std::min(tau / (2 * .25), 2 / ((6 + .25) * (1 + 18. / 8)));
    CHECK(isega{tau, 4}.compose<double, host>(p).step.step.rate == doctest::Approx(std::max(papers, dianas)));
    CHECK(isega{tau, 4}.compose<double, host>(p).step.step.rate ==
          doctest::Approx(diana{rand_block{1, 4}, {.memory = tau}}.compose<double, host>(p).step.step.rate));
    // Well-conditioned workers whose mean is not: the paper's condition asks for less.
    problem const other{16, 1000, .1, .01, .1, .1, .1};
    CHECK(isega{tau, 4}.compose<double, host>(other).step.step.rate ==
          doctest::Approx(std::max(std::min(tau / .2, 2 / (.2 * (1 + .018))),
                                   std::min(1 / (.4 * (1 + 1 / 250.)), 1 / (.01 / tau + .4 / 250)))));
    CHECK(isega{tau, 4}.compose<double, host>(other).feedback.rate() == tau);
}

TEST_CASE("each arm of its step where it binds, as a number") {
    struct {
        problem p;
        double step;
    } const cases[] = {
        // tau 1/16, n 10, mu = L = 1; the paper's arms 1 / (4 (1 + 1.6)) and 1 / (16 + 6.4), diana's 1 / 32 and 1 / 10
        {{16, 10, 1, 1, 1, 1, 1}, 1 / 22.4},
        // n 1000, mu = 1/5: 1 / (4 (1 + 0.016)) and 1 / (3.2 + 0.064), diana's 0.15625 and 2 / (1.2 1.09)
        {{16, 1000, 1, .2, 1, 1, .2}, 1 / 4.064},
        // n 10, mu = 1/32: the paper's 1 / 10.4 and 1 / 6.9, diana's 1 and 2 / (1.03125 (1 + 90 / 10))
        {{16, 10, 1, .03125, 1, 1, .03125}, 2 / 10.3125},
        // n 100, mu = 1/8: diana's 1 / 4 and 2 / (1.125 1.9); the paper's 1 / (4 (1 + 0.16)) and 1 / (2 + 0.64)
        {{16, 100, 1, .125, 1, 1, .125}, .25}};
    for (auto const& c : cases)
        CHECK(isega{.0625, 1}.compose<double, host>(c.p).step.step.rate == doctest::Approx(c.step).epsilon(1e-12));
}

TEST_CASE("the function of its theorem falls by 1 - step mu, in exact expectation, with the paper's step") {
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
        auto const f = random_ridges(5, 8, 1, seed);
        auto const p = constants(f);
        known_optimum const best(f);
        double const tau = .25, n = 5, l = p.largest_smoothness;
        double const step =
            std::min(1 / (4 * l * (1 + 1 / (n * tau))), 1 / (p.strong_convexity / tau + 4 * l / (n * tau)));
        double const weight = step / (2 * l * tau);  // of mean |h_i - h_i*|^2
        double worst = 0;
        for (std::uint64_t s = 0; s < 8; ++s) {
            vec x = best.x;
            auto known = best.gradients;
            double apart = 0;
            for (std::size_t j = 0; j < 8; ++j) x[j] += std::pow(10, double(s) - 4) * (key{s}.uniform(j) - .5);
            for (std::size_t i = 0; i < 5; ++i)
                for (std::size_t j = 0; j < 8; ++j) {
                    double const off = key{s}.child(i).uniform(j) - .5;
                    known[i][j] += off;
                    apart += off * off / n;
                }
            // Blocks of one coordinate are rand_k's.
            expected_round const next(rand_k{2}, tau, step, f, x, known, best);
            worst = std::max(worst, (next.x + weight * next.h) / (distance2(x, best.x) + weight * apart));
        }
        CHECK(worst <= 1 - step * p.strong_convexity);
        CHECK(worst > .5);
    }
}

TEST_CASE("workers that differ, where ibcd stalls at 3/31 of their disagreement") {
    std::vector<vec> centres;
    for (int i = 0; i < 10; ++i) centres.emplace_back(10, i % 2 == 0 ? 1.0 : -1.0);
    auto const f = around(centres);
    lockstep run(isega{.1, 1}.compose<double, host>(constants(f)), f, vec(10, 1.0), 1);
    run.rounds(1500);
    CHECK(norm2(run.x()) < 1e-20);
}

TEST_CASE("with the l1 prox it reaches the soft-thresholded mean") {
    auto const f = around({{3, -1, .2, 0}, {1, -2, .2, 4}, {-1, -3, -.1, -4}});
    lockstep run(isega{.25, 1, rates{}, l1{.5}}.compose<double, host>(constants(f)), f, vec(4, 0.0), 1);
    run.rounds(800);
    CHECK(std::sqrt(distance2(run.x(), vec{.5, -1.5, 0, 0})) < 1e-13);
}

TEST_CASE("real data: along a run the functions of both theorems fall as they say, in exact expectation") {
    auto const real = real_data(10);
    if (!real) return;
    auto const& f = real->f;
    auto const& p = real->p;
    auto const& best = real->best;
    double const tau = 2. / 13, omega = 1 / tau - 1, n = 10, l = p.largest_smoothness, mu = p.strong_convexity;
    double const papers = std::min(1 / (4 * l * (1 + 1 / (n * tau))), 1 / (mu / tau + 4 * l / (n * tau)));
    double const dianas = std::min(tau / (2 * mu), 2 / ((l + mu) * (1 + 6 * omega / n)));
    CHECK(isega{2, 1}.compose<double, host>(p).step.rate == doctest::Approx(std::max(papers, dianas)));
    for (double const step : {papers, dianas}) {
        CAPTURE(step);
        double const weight = step == papers ? step / (2 * l * tau) : 4 * omega / (tau * n) * step * step;
        lockstep run(isega{2, 1, {.step = step}}.compose<double, host>(p), f, vec(13, 0.0), 1);
        std::vector<vec> known(10);
        auto const lyapunov = [&] {
            double v = distance2(run.x(), best.x);
            for (std::size_t i = 0; i < 10; ++i) {
                known[i] = copied(run.known(i));
                v += weight * distance2(known[i], best.gradients[i]) / n;
            }
            return v;
        };
        double const first = lyapunov();
        double worst = 0;
        for (std::size_t const wait : {0u, 1u, 10u, 100u, 1000u}) {
            run.rounds(wait);
            double const v = lyapunov();
            // Blocks of one coordinate are rand_k's.
            expected_round const next(rand_k{2}, tau, step, certain(gradients(f, run.x())), run.x(), known, best);
            worst = std::max(worst, (next.x + weight * next.h) / v);
        }
        CHECK(worst <= 1 - step * mu);
        CHECK(worst > .5);
        CHECK(lyapunov() < 10 * std::pow(1 - step * mu, 1111) * first);  // Markov: but for a chance of 1 in 10
    }
}

TEST_CASE("wrong arguments are refused with the reason, and its text has the right ones") {
    problem const p{16, 8, 5, .5, 6, 6, .25};
    CHECK_THROWS_AS((isega{.25, 4, {.memory = .25}}.compose<double, host>(p)), argument_error);
    CHECK_THROWS_WITH_AS((isega{.25, 4}.compose<double, host>(problem{16, 8})), doctest::Contains("isega: its theorem"),
                         theory_error);
    CHECK(isega{.25, 4, {.step = .5}}.compose<double, host>(problem{16, 8}).step.rate == .5);
    CHECK(to_string(isega<>{}) == "isega(block=256)");
    CHECK(to_string(isega{.1, 8, {.step = .5}}) == "isega(tau=0.1, block=8, step=0.5)");
}
