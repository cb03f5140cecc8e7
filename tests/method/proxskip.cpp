// SPDX-License-Identifier: Apache-2.0
// ProxSkip falls in each local step at the rate of its theorem, and sends more rarely than gradient descent.
#include "laconic/method/proxskip.hpp"

#include "laconic/method/gd.hpp"
#include "support/real_data.hpp"
#include "support/test.hpp"

using namespace laconic;
using namespace toys;

static_assert(Method<proxskip>);

namespace {

// A round of so many local steps.
round_context round_of(local_steps<> const& e, std::uint64_t steps) {
    for (std::uint64_t k = 0;; ++k)
        if (auto const now = round_context::of(key{2}, k, 0, 2); e.steps(now) == steps) return now;
}

}  // namespace

namespace {

// The worst of E V+ / V over the first local steps of some rounds: after l of them either all ranks send, with
// probability `send_probability`, or none does.
template <class R, class F>
double worst_ratio(R const& recursion, double send_probability, std::vector<F> const& f, known_optimum const& best,
                   vec const& start, std::size_t rounds) {
    host on;
    auto const n = f.size(), d = start.size();
    double const step = recursion.step.rate;
    auto const lyapunov = [&](std::vector<vec> const& x, std::vector<vec> const& h) {
        double v = 0;
        for (std::size_t i = 0; i < n; ++i)
            v += distance2(x[i], best.x) + square(step / send_probability) * distance2(h[i], best.gradients[i]);
        return v;
    };
    lockstep run(recursion, f, start, 3);
    run.round();
    double worst = 0;
    for (std::size_t k = 1; k < rounds; ++k) {
        std::vector<vec> h;
        for (std::size_t i = 0; i < n; ++i) h.push_back(copied(run.method(i).estimator.shift()));
        double before = lyapunov(std::vector<vec>(n, run.x()), h);
        for (std::uint64_t l = 1; l <= 5; ++l) {
            std::vector<local_steps<>> parts;
            std::vector<vec> y;
            for (std::size_t i = 0; i < n; ++i) {
                parts.push_back(run.method(i).estimator);
                vec g(d);
                parts[i](on, f[i], round_of(parts[i], l), std::span<double const>(run.x()), std::span<double>(g));
                y.push_back(run.x());
                for (std::size_t j = 0; j < d; ++j) y[i][j] -= step * g[j];
            }
            vec const next = mean_of(y);
            std::vector<vec> h_next;
            for (std::size_t i = 0; i < n; ++i) {
                parts[i].update(on, std::span<double const>(next));
                h_next.push_back(copied(parts[i].shift()));
            }
            double const apart = lyapunov(y, h), together = lyapunov(std::vector<vec>(n, next), h_next);
            worst = std::max(worst, (send_probability * together + (1 - send_probability) * apart) / before);
            before = apart;
        }
        run.round();
    }
    return worst;
}

}  // namespace

TEST_CASE("each local step: the Lyapunov function falls in expectation by 1 - min(step mu, p^2)") {
    auto const f = random_ridges(4, 6, 1, 7);
    auto const p = constants(f);
    known_optimum const best(f);
    for (double const chosen : {0., .1, .6}) {
        CAPTURE(chosen);
        auto const recursion = composed(proxskip{chosen, {}}, p);
        double const step = recursion.step.rate;
        CHECK(step == 1 / p.largest_smoothness);
        double const send_probability = chosen > 0 ? chosen : std::sqrt(step * p.least_strong_convexity);
        double const rate = 1 - std::min(step * p.least_strong_convexity, send_probability * send_probability);
        double const worst = worst_ratio(recursion, send_probability, f, best, vec(6, 1.0), 40);
        CHECK(worst <= rate * (1 + 1e-9));
        CHECK(worst > rate - .5);
    }
}

TEST_CASE("real data: the same, along a run") {
    auto const real = real_data(10);
    if (!real) return;
    for (double const chosen : {0., .3}) {
        auto const recursion = composed(proxskip{chosen, {}}, real->p);
        double const progress = recursion.step.rate * real->p.least_strong_convexity;
        double const send_probability = chosen > 0 ? chosen : std::sqrt(progress);
        double const worst = worst_ratio(recursion, send_probability, real->f, real->best, vec(13, 0.0), 20);
        CHECK(worst <= (1 - std::min(progress, send_probability * send_probability)) * (1 + 1e-9));
        CHECK(worst > .9);
    }
}

TEST_CASE("it reaches the optimum of ranks that disagree, with fewer messages than gradient descent") {
    auto const f = random_ridges(4, 8, .02, 5);
    auto const p = constants(f);
    known_optimum const best(f);
    CHECK(best.disagreement() > 1);
    double const kappa = p.largest_smoothness / p.least_strong_convexity;
    CHECK(kappa > 1000);
    auto const rounds_to_optimum = [&](auto const& recursion) {
        lockstep run(recursion, f, vec(8, 0.0), 1);
        std::size_t k = 0;
        for (; k < 20000 && distance2(run.x(), best.x) > 1e-16 * norm2(best.x); ++k) run.round();
        return k;
    };
    auto const quick = rounds_to_optimum(composed(proxskip{}, p)), slow = rounds_to_optimum(composed(gd{}, p));
    CHECK(slow < 20000);
    CHECK(4 * quick < slow);
    lockstep run(composed(proxskip{}, p), f, vec(8, 0.0), 1);
    run.rounds(3 * quick);
    for (std::size_t i = 0; i < 4; ++i)
        CHECK(distance2(run.method(i).estimator.shift(), best.gradients[i]) < 1e-15 * best.disagreement());
}

TEST_CASE("p = 1 is gradient descent") {
    auto const f = random_ridges(4, 5, 1, 8);
    auto const p = constants(f);
    rates const given{.step = 1 / p.largest_smoothness};
    auto const gradient = history(composed(gd{given}, p), f, vec(5, 1.0), 60);
    auto const always = history(composed(proxskip{1, given}, p), f, vec(5, 1.0), 60);
    for (std::size_t k = 0; k <= 60; ++k) CHECK(std::sqrt(distance2(gradient[k].x[0], always[k].x[0])) < 1e-12);
}

TEST_CASE("its numbers by hand, and its text") {
    problem const p{8, 5, 4, .5, 8, 6, .125};
    auto const r = proxskip{}.compose<double, host>(p);
    CHECK(r.step.rate == .125);
    CHECK(to_string(r.estimator) == "local_steps(p=0.125, step=0.125), the full gradient");
    CHECK(to_string(proxskip{.5, {.step = .25, .batch = 3}}.compose<double, host>(problem{}).estimator) ==
          "local_steps(p=0.5, step=0.25), mini_batch(3)");
    CHECK(to_string(proxskip{0, {.step = 2.}}.compose<double, host>(p).estimator) ==
          "local_steps(p=0.5, step=2), the full gradient");
    // sqrt(32 / 8) = 2 is no probability: all send after every step.
    CHECK(to_string(proxskip{0, {.step = 32.}}.compose<double, host>(p).estimator) ==
          "local_steps(p=1, step=32), the full gradient");
    CHECK(to_string(proxskip{}) == "proxskip");
    CHECK(to_string(proxskip{.5, {.step = .25}}) == "proxskip(p=0.5, step=0.25)");
}

TEST_CASE("wrong arguments are refused with the reason") {
    problem const p{8, 5, 4, .5, 8, 6, .125}, not_all_curved{8, 5, 4, .5, 8, 6, 0};
    auto const compose = [](proxskip const& m, problem const& of) { return m.compose<double, host>(of); };
    CHECK_THROWS_WITH_AS(compose({}, not_all_curved), doctest::Contains("strongly convex"), theory_error);
    CHECK_NOTHROW(compose({.5, {}}, not_all_curved));
    CHECK_THROWS_WITH_AS(compose({.5, {}}, problem{}), doctest::Contains("max L_i"), theory_error);
    CHECK_THROWS_WITH_AS(compose({1.5, {}}, p), doctest::Contains("p = 1.5"), argument_error);
    CHECK_THROWS_AS(compose({-.5, {}}, p), argument_error);
    CHECK_THROWS_AS(compose({std::nan(""), {}}, p), argument_error);
    CHECK_THROWS_AS(compose({.5, {.memory = .5}}, p), argument_error);
}
