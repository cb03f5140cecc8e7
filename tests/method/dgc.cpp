// SPDX-License-Identifier: Apache-2.0
// DGC sends each value with the momentum it gathered, warms up, clips, and is gradient descent where all is sent.
#include "laconic/method/dgc.hpp"

#include "laconic/method/gd.hpp"
#include "laconic/method/top_k_sgd.hpp"
#include "laconic/optim/momentum.hpp"
#include "support/sums.hpp"
#include "support/test.hpp"

using namespace laconic;
using namespace toys;

static_assert(Method<dgc>);

namespace {

auto with(dgc const& m, int workers = 1) {
    problem p;
    p.workers = workers;
    return m.compose<double, host>(p);
}
bool near(vec const& x, vec const& y) { return std::sqrt(distance2(x, y)) < 1e-12 * (1 + std::sqrt(norm2(x))); }

}  // namespace

TEST_CASE("the trace of a constant gradient moves x by what was gathered") {
    workers const f{{Eigen::MatrixXd::Zero(2, 2), Eigen::Vector2d(-1, -.5), 0}};
    lockstep run(with({1, .9, false, 0, 0, {.step = 1}}), f, {0, 0}, 1);
    for (vec const& x : {vec{-1, 0}, {-1, -1.45}, {-3.9, -1.45}}) {
        run.round();
        CHECK(near(run.x(), x));
    }
}

TEST_CASE("all coordinates every round: gradient descent with masking, momentum without") {
    auto const f = random_ridges(3, 5, 1, 2);
    dgc const all{5, .9, false, 0, 0, {.step = .002}};
    lockstep masked(with(all, 3), f, vec(5, 1.0), 1);
    auto r = with(all, 3);
    r.feedback = momentum_correction<>(.9, false, false);
    lockstep heavy(r, f, vec(5, 1.0), 1);
    lockstep plain_descent(composed(gd{{.step = .002}}, f), f, vec(5, 1.0), 1);
    lockstep reference(composed(gd{{.step = .002}}, f).with_step(momentum<>(.002, .9)), f, vec(5, 1.0), 1);
    for (int k = 0; k < 60; ++k) {
        masked.round();
        heavy.round();
        plain_descent.round();
        reference.round();
        CHECK(near(masked.x(), plain_descent.x()));
        CHECK(near(heavy.x(), reference.x()));
    }
    CHECK_FALSE(near(heavy.x(), masked.x()));
}

TEST_CASE("without momentum it is top_k_sgd with the step outside the memory") {
    auto const f = random_ridges(3, 8, 1, 2);
    lockstep a(with({2, 0, false, 0, 0, {.step = .0009765625}}, 3), f, vec(8, 1.0), 1);
    lockstep b(composed(top_k_sgd{2, {.step = .0009765625}}, f), f, vec(8, 1.0), 1);
    for (int k = 0; k < 100; ++k) {
        a.round();
        b.round();
        CHECK(near(a.x(), b.x()));
    }
}

TEST_CASE("momentum that is gathered before it is sent is quicker than none") {
    auto const f = random_ridges(4, 10, 1, 5);
    auto const whole = mean_of(f);
    double const least = known_optimum(f).value;
    auto const p = constants(f);
    auto const gap = [&](double momentum, bool nesterov) {
        lockstep run(dgc{3, momentum, nesterov, 0, 0, {.step = step_size{.1, true}}}.compose<double, host>(p), f,
                     vec(10, 3.0), 1);
        run.rounds(400);
        return whole.value(run.x()) - least;
    };
    double const none = gap(0, false);
    CHECK(gap(.7, false) < .5 * none);
    CHECK(gap(.7, true) < .5 * none);
}

TEST_CASE("warm-up sends 25 %, 6.25 %, 1.5625 %, 0.4 %, then k") {
    auto const f = around({vec(1000, 1.0)});
    lockstep run(with({.001, .9, false, 0, 8, {.step = .1}}), f, vec(1000, 0.0), 1);
    std::size_t const known[] = {250, 250, 63, 63, 16, 16, 4, 4, 1, 1};
    for (auto const count : known) {
        run.round();
        CHECK(run.message_of_rank(0).support.size() == count);
    }
}

TEST_CASE("a worker's gradient is clipped to the norm clip / sqrt n") {
    auto const f = around({{30, 40}, {30, 40}, {30, 40}, {30, 40}});
    lockstep run(with({2, .9, false, 10, 0, {.step = 1}}, 4), f, {0, 0}, 1);
    run.round();
    CHECK(near(run.x(), {3, 4}));
}

TEST_CASE("a run that is saved and taken up goes on bit for bit") {
    auto const f = random_sums(2, 4, {vec(9, 1.0), vec(9, -1.0)}, 1, 5);
    auto const r = with({2, .9, true, 1, 8, {.step = .1, .batch = 1}}, 2);
    lockstep first(r, f, vec(9, 2.0), 7), second(r, f, vec(9, 0.0), 7);
    first.rounds(5);
    for (std::size_t i = 0; i < 2; ++i) second.rank(i).restore(first.rank(i).save());
    first.rounds(9);
    second.rounds(9);
    CHECK(first.x() == second.x());
}

TEST_CASE("wrong arguments are refused with the reason") {
    CHECK_THROWS_WITH_AS((dgc{}.compose<double, host>(problem{8, 5, 4, .5, 9, 6})),
                         "dgc: no theorem gives its step; give the step yourself", theory_error);
    CHECK_THROWS_AS(with({.001, 1, false, 0, 0, {.step = 1}}), argument_error);
    CHECK_THROWS_AS(with({.001, .9, false, -1, 0, {.step = 1}}), argument_error);
    CHECK_THROWS_AS(with({.001, .9, false, NAN, 0, {.step = 1}}), argument_error);
    CHECK_THROWS_AS(with({.001, .9, false, 0, 0, {.step = 1., .memory = .1}}), argument_error);
}

TEST_CASE("its text has its arguments") {
    CHECK(to_string(dgc{}) == "dgc(k=0.001, momentum=0.9)");
    CHECK(to_string(dgc{.01, .5, true, 2, 100, {.step = .1, .batch = 32}}) ==
          "dgc(k=0.01, momentum=0.5, nesterov=yes, clip=2, warm_up=100, step=0.1, batch=32)");
}
