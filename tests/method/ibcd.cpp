// SPDX-License-Identifier: Apache-2.0
// IBCD falls at its theorem's rate where workers agree, and stays at its known floor where they differ.
#include "laconic/method/ibcd.hpp"

#include "support/real_data.hpp"
#include "support/sums.hpp"
#include "support/test.hpp"

using namespace laconic;
using namespace toys;

static_assert(Method<ibcd>);

namespace {

// The mean of a message about g over all blocks that can be drawn, and its mean square.
struct moments {
    vec mean;
    double square = 0;

    moments(scaled_down<rand_block<>> const& c, vec const& g, std::size_t outcomes) : mean(g.size()) {
        host on;
        message_of<scaled_down<rand_block<>>> m;
        std::set<std::vector<coordinate>> seen;
        for (std::uint64_t seed = 0; seen.size() < outcomes; ++seed) {
            c(on, std::span<double const>(g), key{seed}, m);
            if (!seen.insert(m.inside.support).second) continue;
            vec decoded(g.size());
            add_message(on, std::span(decoded), 1.0, m);
            for (std::size_t j = 0; j < g.size(); ++j) mean[j] += decoded[j] / double(outcomes);
            square += norm2(decoded) / double(outcomes);
        }
    }
};

// E|x+ - x*|^2 of one round at x, exactly: the workers draw for themselves.
template <class R, class F>
double expected_distance(R const& r, std::vector<F> const& f, vec const& x, vec const& best, std::size_t outcomes) {
    auto const n = double(f.size());
    vec next = x;
    double variance = 0;
    for (auto const& g : gradients(f, x)) {
        moments const m(r.compressor, g, outcomes);
        for (std::size_t j = 0; j < x.size(); ++j) next[j] -= r.step.rate * m.mean[j] / n;
        variance += (m.square - norm2(m.mean)) / (n * n);
    }
    return distance2(next, best) + r.step.rate * r.step.rate * variance;
}
double expected_distance(ibcd const& method, workers const& f, vec const& x, std::size_t outcomes) {
    return expected_distance(method.compose<double, host>(constants(f)), f, x, known_optimum(f).x, outcomes);
}

double papers_step(double n, double tau, double l) { return n / (2 * l * (tau * n + 2 * (1 - tau))); }

}  // namespace

TEST_CASE("bowls around one point: the exact factors, of the paper's step and of the longest") {
    struct line {
        int n;
        double tau, step, factor, bound, longest;
    };
    for (auto const& known : {line{10, .1, 1.7857142857, .7034438776, .8214285714, .4736842105},
                              line{100, .01, 0, .7204517815, .8322147651, .4974874372}}) {
        CAPTURE(known.n);
        auto const d = static_cast<std::size_t>(known.n);
        auto const f = around(std::vector<vec>(d, vec(d, 0.0)));
        double const step = papers_step(known.n, known.tau, 1);
        if (known.step > 0) CHECK(step == doctest::Approx(known.step).epsilon(1e-9));
        vec const x(d, 1.0);
        double const factor = expected_distance(ibcd{known.tau, 1, {.step = step}}, f, x, d) / norm2(x);
        CHECK(factor == doctest::Approx(known.factor).epsilon(1e-9));
        CHECK(1 - step * known.tau == doctest::Approx(known.bound).epsilon(1e-9));
        CHECK(factor <= known.bound);
        double const least = expected_distance(ibcd{known.tau, 1}, f, x, d) / norm2(x);
        CHECK(least == doctest::Approx(known.longest).epsilon(1e-9));
        auto const p = constants(f);
        double const longest = ibcd{known.tau, 1}.compose<double, host>(p).step.rate;
        CHECK(least == doctest::Approx(1 - longest * known.tau).epsilon(1e-9));  // the theorem is attained
    }
}

TEST_CASE("the theorem at many points, for workers that agree on the optimum") {
    for (std::uint64_t seed = 1; seed <= 3; ++seed)
        for (std::size_t const block : {1u, 2u, 4u}) {
            CAPTURE(seed);
            CAPTURE(block);
            auto f = random_ridges(4, 8, 1, seed);
            for (auto& each : f) each.b.setZero();
            auto const p = constants(f);
            std::size_t const blocks = 8 / block;
            ibcd const method{1, block};
            double const tau = 1 / double(blocks), step = method.compose<double, host>(p).step.rate;
            CHECK(step == doctest::Approx(1 / (tau * p.smoothness + (1 - tau) * p.largest_smoothness / 4)));
            double worst = 0;
            for (std::uint64_t direction = 0; direction < 8; ++direction) {
                vec x(8);
                for (std::size_t j = 0; j < 8; ++j) x[j] = key{seed}.child(direction).uniform(j) - .5;
                worst = std::max(worst, expected_distance(method, f, x, blocks) / norm2(x));
            }
            CHECK(worst <= 1 - step * tau * p.strong_convexity + 1e-12);
            CHECK(worst > .5);
        }
}

TEST_CASE("workers that differ: the floor is known exactly, and the run stays there") {
    std::vector<vec> centres;
    for (int i = 0; i < 10; ++i) centres.emplace_back(10, i % 2 == 0 ? 1.0 : -1.0);
    auto const f = around(centres);
    double const step = papers_step(10, .1, 1);
    ibcd const method{.1, 1, {.step = step}};
    vec const here(10, 0.0), there(10, 2.0);
    double const c = expected_distance(method, f, here, 10), a = (expected_distance(method, f, there, 10) - c) / 40;
    CHECK(c / (1 - a) == doctest::Approx(10 * 3. / 31).epsilon(1e-9));
    auto const r = method.compose<double, host>(constants(f));
    estimate const tail(30, [&](std::size_t seed) {
        lockstep run(r, f, vec(10, 1.0), seed);
        run.rounds(50);
        double sum = 0;
        for (int k = 0; k < 200; ++k) {
            run.round();
            sum += norm2(run.x()) / 200;
        }
        return sum;
    });
    CHECK(std::abs(tail.mean - 30. / 31) < 5 * tail.error);
    CHECK(tail.error < .05);
}

TEST_CASE("real data: the theorem along a run, for workers made to agree, and the distance at which others stall") {
    auto const real = real_data(10);
    if (!real) return;
    auto const f = made_to_agree(*real);
    auto const& p = real->p;
    auto const& best = real->best;
    double const tau = 2. / 13, mu = p.strong_convexity, l = p.largest_smoothness;
    auto const r = ibcd{2, 1}.compose<double, host>(p);
    double const step = r.step.rate;
    CHECK(step == doctest::Approx(1 / (tau * p.smoothness + (1 - tau) * l / 10)));
    lockstep run(r, f, vec(13, 0.0), 1);
    double worst = 0;
    for (std::size_t const wait : {0u, 1u, 10u, 100u, 1000u}) {
        run.rounds(wait);
        worst = std::max(worst, expected_distance(r, f, run.x(), best.x, 78) / distance2(run.x(), best.x));
    }
    CHECK(worst <= 1 - step * tau * mu);
    CHECK(worst > .9);
    CHECK(distance2(run.x(), best.x) < 1e-6 * norm2(best.x));

    // As they are: half the spread, and 2 step (1 - tau) zeta^2 / (n mu) is as far as they stay.
    double const half = 1 / (tau * p.smoothness + 2 * (1 - tau) * l / 10);
    auto const shorter = ibcd{2, 1, {.step = half}}.compose<double, host>(p);
    double const noise = 2 * half * half * tau * (1 - tau) * best.disagreement() / 10;
    double largest_ratio = 0;
    for (double const away : {0., .01, .1, 1.}) {
        vec x = best.x;
        for (double& v : x) v *= 1 - away;
        double const next = expected_distance(shorter, real->f, x, best.x, 78);
        largest_ratio = std::max(largest_ratio, next / ((1 - half * tau * mu) * distance2(x, best.x) + noise));
    }
    CHECK(largest_ratio <= 1);
    CHECK(largest_ratio > .8);
}

TEST_CASE("numbers are sent as they are, those of one block in n, and their positions cost nothing") {
    auto const f = around({{1, 2, 3, 4, 5, 6, 7}, {1, 2, 3, 4, 5, 6, 7}});
    auto const states = history(ibcd{0, 2, {.step = 2}}.compose<double, host>(constants(f)), f, vec(7, 0.0), 1);
    // Two of the four blocks (0 1) (2 3) (4 5) (6) on each of two workers, halved by the mean, doubled by the step.
    for (std::size_t j = 0; j < 7; ++j) {
        double const times = states[1].x[0][j] / double(j + 1);
        CHECK((times == 0 || times == 1 || times == 2));
    }
    for (auto const& bytes : states[1].bytes) CHECK((bytes.size() == 3 * 8 || bytes.size() == 4 * 8));
}

TEST_CASE("its numbers by hand, and wrong arguments refused with the reason") {
    problem const p{1024, 5, 4, .5, 10, 6};
    CHECK(to_string(ibcd{}.compose<double, host>(p).compressor) == "scaled_down(rand_block(1, block=256))");
    CHECK(to_string(ibcd{0, 8}.compose<double, host>(p).compressor) == "scaled_down(rand_block(26, block=8))");
    CHECK(ibcd{.25, 8}.compose<double, host>(p).step.rate == doctest::Approx(1 / (.25 * 4 + .75 * 10 / 5)));
    CHECK(ibcd{32, 8}.compose<double, host>(p).step.rate == doctest::Approx(1 / (.25 * 4 + .75 * 10 / 5)));
    problem alone = p;
    alone.workers = 1;
    CHECK(ibcd{}.compose<double, host>(alone).step.rate == doctest::Approx(.25));  // all blocks
    CHECK(ibcd{.5, 8, {.step = .1}}.compose<double, host>(problem{1024, 5}).step.rate == .1);
    CHECK(ibcd{.5, 8, {.step = .1}}.compose<double, host>(problem{}).step.rate == .1);
    CHECK_THROWS_AS((ibcd{.5, 8}.compose<double, host>(problem{1024, 5})), theory_error);
    CHECK_THROWS_WITH_AS((ibcd{0, 8, {.step = .1}}.compose<double, host>(problem{})),
                         "ibcd: it needs the dimension, which is not known", theory_error);
    CHECK_THROWS_WITH_AS((ibcd{.5, 8, {.batch = 2}}.compose<double, host>(p)), doctest::Contains("ibcd: its theorem"),
                         theory_error);
    CHECK_THROWS_AS((ibcd{.5, 8, {.memory = .5}}.compose<double, host>(p)), argument_error);
    CHECK_THROWS_AS((ibcd{.5, 0}.compose<double, host>(p)), argument_error);
    CHECK_THROWS_AS((ibcd{-.5, 8}.compose<double, host>(p)), argument_error);
    CHECK_THROWS_AS((ibcd{2.5, 8}.compose<double, host>(p)), argument_error);
}

TEST_CASE("its text has its arguments") {
    CHECK(to_string(ibcd{}) == "ibcd(block=256)");
    CHECK(to_string(ibcd{.1, 8, {.step = .5}}) == "ibcd(tau=0.1, block=8, step=0.5)");
}
