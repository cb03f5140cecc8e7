// SPDX-License-Identifier: Apache-2.0
// IASGD falls by 1 - sqrt(mu / L) / growth a round where its workers agree, and is Nesterov's method of all blocks.
#include "laconic/method/iasgd.hpp"

#include "laconic/method/ibcd.hpp"
#include "support/real_data.hpp"
#include "support/test.hpp"

using namespace laconic;
using namespace toys;

static_assert(Method<iasgd>);

namespace {

// Equal workers: strong growth holds with rho = 1.
workers equal(int n, std::vector<double> const& curvature) {
    Eigen::VectorXd const diagonal = eigen(curvature);
    quadratic<> const one{diagonal.asDiagonal().toDenseMatrix(), Eigen::VectorXd::Zero(diagonal.size()), 0};
    return workers(static_cast<std::size_t>(n), one);
}

}  // namespace

TEST_CASE("the function of its theorem falls by 1 - sqrt(mu / L) / growth a round, on average over runs") {
    auto const f = equal(4, {1, 3, 10, 100});
    auto const p = constants(f);
    auto const r = iasgd{2, 1, 1}.compose<double, host>(p);
    double const growth = 1 + (2 - 1) / 4., fall = std::sqrt(1. / 100) / growth;
    CHECK(r.step.rate() == doctest::Approx(1 / (growth * 100)));
    CHECK(r.step.q() == doctest::Approx(fall));
    vec const start(4, 1.0);
    double const first = f[0].value(start) + norm2(start) / 2;
    for (std::size_t const rounds : {1u, 10u, 50u, 150u}) {
        estimate const after(300, [&](std::size_t seed) {
            lockstep run(r, f, start, seed);
            run.rounds(rounds);
            auto const& step = run.method(0).step;
            return f[0].value(step.y()) + norm2(step.v()) / 2;
        });
        CHECK(after.mean - 5 * after.error <= std::pow(1 - fall, double(rounds)) * first);
    }
}

TEST_CASE("real data: so it does for workers that all hold all rows") {
    auto const real = real_data(1);
    if (!real) return;
    std::vector<logistic_regression<>> const f(4, real->f[0]);
    auto p = real->p;
    p.workers = 4;
    auto const& best = real->best;
    auto const r = iasgd{4, 1, 1}.compose<double, host>(p);
    double const growth = 1 + (13. / 4 - 1) / 4, fall = std::sqrt(p.strong_convexity / p.smoothness) / growth;
    CHECK(r.step.rate() == doctest::Approx(1 / (growth * p.smoothness)));
    double const first = f[0].value(vec(13, 0.0)) - best.value + p.strong_convexity / 2 * norm2(best.x);
    std::size_t const marks[] = {1, 10, 60};
    std::vector<vec> after(3);
    for (std::uint64_t seed = 0; seed < 12; ++seed) {
        lockstep run(r, f, vec(13, 0.0), seed);
        for (std::size_t s = 0, done = 0; s < 3; done = marks[s++]) {
            run.rounds(marks[s] - done);
            auto const& step = run.method(0).step;
            after[s].push_back(f[0].value(step.y()) - best.value +
                               p.strong_convexity / 2 * distance2(step.v(), best.x));
        }
    }
    for (std::size_t s = 0; s < 3; ++s) {
        estimate const v(12, [&](std::size_t seed) { return after[s][seed]; });
        CHECK(v.mean + 5 * v.error <= std::pow(1 - fall, double(marks[s])) * first);
        CHECK(v.mean > 0);
    }
}

TEST_CASE("on badly conditioned workers that agree it is quicker than ibcd, for the same messages") {
    auto const f = equal(10, {1, 10, 100, 1000, 1, 1, 1, 1, 1, 1});
    auto const p = constants(f);
    lockstep fast(iasgd{1, 1, 1}.compose<double, host>(p), f, vec(10, 1.0), 1);
    lockstep slow(ibcd{1, 1}.compose<double, host>(p), f, vec(10, 1.0), 1);
    fast.rounds(800);
    slow.rounds(800);
    CHECK(f[0].value(fast.x()) < 1e-3 * f[0].value(slow.x()));
}

TEST_CASE("all blocks and equal workers: Nesterov's method, on every rank the same") {
    auto const f = equal(3, {1, 4, 9});
    auto const r = iasgd{3, 1, 1}.compose<double, host>(constants(f));
    lockstep run(r, f, vec(3, 1.0), 1);
    accelerated_step<> reference(1. / 9, 1);
    host on;
    vec x(3, 1.0), d(3);
    for (int k = 0; k < 50; ++k) {
        f[0].gradient(x, d);
        reference(on, std::span(x), std::span(d));
        run.round();
        CHECK(distance2(run.x(), x) < 1e-26);
    }
}

TEST_CASE("its numbers by hand, and wrong arguments refused with the reason") {
    problem const p{16, 8, 5, .5, 6, 6};
    CHECK(iasgd{.25, 4, 3}.compose<double, host>(p).step.rate() == doctest::Approx(1 / (5 * (1 + 11 / 8.))));
    CHECK_THROWS_WITH_AS((iasgd{.25, 4}.compose<double, host>(p)),
                         doctest::Contains("iasgd: it needs the strong growth"), theory_error);
    CHECK_THROWS_AS((iasgd{.25, 4, NAN}.compose<double, host>(p)), theory_error);
    CHECK_THROWS_WITH_AS((iasgd{.25, 4, 2, {.step = .1}}.compose<double, host>(problem{16, 8, 5})),
                         doctest::Contains("mu, the strong convexity"), theory_error);
    CHECK(iasgd{.25, 4, 2, {.step = .1}}.compose<double, host>(p).step.rate() == .1);
    CHECK_THROWS_AS((iasgd{.25, 4, 2, {.memory = .1}}.compose<double, host>(p)), argument_error);
}

TEST_CASE("its text has its arguments") {
    CHECK(to_string(iasgd{}) == "iasgd(block=256)");
    CHECK(to_string(iasgd{.1, 8, 4, {.step = .5}}) == "iasgd(tau=0.1, block=8, rho=4, step=0.5)");
}
