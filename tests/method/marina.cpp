// SPDX-License-Identifier: Apache-2.0
// MARINA falls at the rate of its theorem, and all ranks send in full in the same rounds.
#include "laconic/method/marina.hpp"

#include "laconic/any/compressor.hpp"
#include "laconic/compress/rand_k.hpp"
#include "laconic/compress/top_k.hpp"
#include "laconic/method/gd.hpp"
#include "support/real_data.hpp"
#include "support/test.hpp"

using namespace laconic;
using namespace toys;

static_assert(Method<marina<rand_k<>>>);

namespace {

// What a round makes of the estimate at x, every rank's parts being those of `run`, with the randomness of a key.
template <class Run, class F>
vec next_estimate(Run const& run, std::vector<F> const& f, key from) {
    host on;
    auto const n = f.size();
    vec mean(run.x().size());
    auto first = run.method(0);
    for (std::size_t i = 0; i < n; ++i) {
        auto mine = run.method(i);
        auto const now = round_context::of(from, 1, static_cast<int>(i), static_cast<int>(n));
        vec g(mean.size());
        f[i].gradient(run.x(), g);
        mine.feedback.compensate(on, now, g);
        mine.level.tune(on, mine.compressor, now, std::span<double const>(run.x()), std::span<double const>(g));
        message_of<decltype(mine.compressor)> m;
        mine.compressor(on, std::span<double const>(g), now.own, m);
        add_message(on, std::span<double>(mean), 1. / static_cast<double>(n), m);
    }
    first.feedback.reconstruct(on, round_context::of(from, 1, 0, static_cast<int>(n)), mean);
    return mean;
}

}  // namespace

TEST_CASE("p = 1 is gradient descent, bit for bit") {
    auto const f = random_ridges(3, 5, 1, 3);
    rates const given{.step = 1 / constants(f).smoothness};
    auto const gradient = history(composed(gd{given}, f), f, vec(5, 1.0), 40);
    auto const full_marina = history(composed(marina{rand_k{2}, 1, given}, f), f, vec(5, 1.0), 40);
    for (std::size_t k = 0; k <= 40; ++k) {
        CHECK(gradient[k].x == full_marina[k].x);
        CHECK(gradient[k].bytes == full_marina[k].bytes);
    }
}

namespace {

// The worst V+ / V along a run of `rounds` rounds with rand_k{kept}, in exact expectation, which the library's rounds
// are held against now and then.
template <class F>
double worst_ratio(std::vector<F> const& f, problem const& p, known_optimum const& best, std::size_t kept,
                   vec const& start, std::size_t rounds) {
    auto const recursion = composed(marina{rand_k{kept}}, p);
    auto const d = p.dimension;
    double const omega = double(d) / double(kept) - 1, coin = 1 / (1 + omega), step = recursion.step.rate;
    double const n = double(f.size());
    lockstep run(recursion, f, start, 4);
    auto const gradient = [&] { return mean_of(gradients(f, run.x())); };
    double worst = 0;
    for (std::size_t k = 0; k < rounds; ++k) {
        double before = mean_value(f, run.x()) - best.value;
        auto const here = gradient();
        run.round();
        before += step / coin * distance2(run.method(0).feedback.last_estimate(), here);
        // E|g+ - grad|^2 = (1 - p)(|g + grad f(x+) - grad f(x) - grad f(x+)|^2 + the variance).
        double variance = 0;
        vec mean_last(d);
        auto const g = gradients(f, run.x());
        for (std::size_t i = 0; i < f.size(); ++i) {
            auto const last = run.method(i).feedback.last();
            variance += omega * distance2(g[i], last) / (n * n);
            for (std::size_t j = 0; j < d; ++j) mean_last[j] += last[j] / n;
        }
        double const expected = (1 - coin) * (distance2(run.method(0).feedback.last_estimate(), mean_last) + variance);
        double const after = mean_value(f, run.x()) - best.value + step / coin * expected;
        worst = std::max(worst, after / before);
        if (k % 20 == 1) {  // and the library's rounds have that expectation
            auto const there = gradient();
            estimate const seen(
                2000, [&](std::size_t s) { return distance2(next_estimate(run, f, key{99}.child(s)), there); });
            CHECK(std::abs(seen.mean - expected) < 5 * seen.error);
            CHECK(seen.error < .1 * expected);
        }
    }
    return worst;
}

}  // namespace

TEST_CASE("its Lyapunov function falls by 1 - step mu") {
    auto const f = random_ridges(5, 12, 1, 11);
    auto const p = constants(f);
    known_optimum const best(f);
    auto const recursion = composed(marina{rand_k{3}}, p);
    double const worst = worst_ratio(f, p, best, 3, vec(12, 1.0), 60);
    CHECK(worst <= 1 - recursion.step.rate * p.strong_convexity);
    CHECK(worst > .5);
    lockstep run(recursion, f, vec(12, 1.0), 4);
    run.rounds(6000);
    CHECK(distance2(run.x(), best.x) < 1e-20 * norm2(best.x));
}

TEST_CASE("real data: its Lyapunov function falls by 1 - step mu") {
    auto const real = real_data(10);
    if (!real) return;
    auto const& p = real->p;
    double const worst = worst_ratio(real->f, p, real->best, 4, vec(13, 0.0), 21);
    CHECK(worst <= 1 - composed(marina{rand_k{4}}, p).step.rate * p.strong_convexity);
    CHECK(worst > .5);
}

TEST_CASE("for any smooth f: the mean square of the gradients is within 2 (f(x^0) - f*) / (step K)") {
    auto const f = random_ridges(5, 12, 1, 11);
    auto p = constants(f);
    p.strong_convexity = 0;
    auto const r = composed(marina{rand_k{3}}, p);
    vec const start(12, 1.0);
    for (int const rounds : {3, 40}) {
        estimate const mean(100, [&](std::size_t seed) {
            lockstep run(r, f, start, seed);
            double sum = 0;
            for (int k = 0; k < rounds; ++k) {
                sum += norm2(mean_of(gradients(f, run.x()))) / rounds;
                run.round();
            }
            return sum;
        });
        double const bound = 2 * (mean_value(f, start) - known_optimum(f).value) / (r.step.rate * rounds);
        CHECK(mean.mean + 5 * mean.error <= bound);
        CHECK(mean.mean > 1e-3 * bound);
    }
}

TEST_CASE("in each round all ranks send in full, or all what the compressor keeps") {
    auto const f = random_ridges(3, 12, 1, 2);
    auto const states = history(composed(marina{rand_k{3}, .3}, f), f, vec(12, 1.0), 600);
    int full = 0;
    for (std::size_t k = 1; k <= 600; ++k) {
        auto const& messages = states[k].bytes;
        CHECK((messages[0].size() == 96 || messages[0].size() == 24));
        CHECK(messages[1].size() == messages[0].size());
        CHECK(messages[2].size() == messages[0].size());
        full += messages[0].size() == 96;
    }
    CHECK(states[1].bytes[0].size() == 96);
    CHECK(std::abs(full - 180) < 5 * std::sqrt(600 * .3 * .7));
}

TEST_CASE("its numbers by hand") {
    problem const p{8, 5, 3, .5, 7, 6};
    auto const r = marina{rand_k{2}}.compose<double, host>(p);  // omega = 3, p = 1/4
    CHECK(r.level.p == .25);
    CHECK(to_string(r.feedback) == "last_gradient(0.25)");
    CHECK(r.step.rate == doctest::Approx(1 / (6 * (1 + std::sqrt(2 * .75 * 3 / (.25 * 5))))));
    problem const flat{8, 5, 3, 2.9, 7, 3};  // the other arm: p / (2 mu)
    CHECK(marina{rand_k{2}, .1}.compose<double, host>(flat).step.rate == doctest::Approx(.1 / 5.8));
    problem const convex{8, 5, 3, 0, 7, 6};
    CHECK(marina{rand_k{2}, .5}.compose<double, host>(convex).step.rate ==
          doctest::Approx(1 / (6 * (1 + std::sqrt(.6)))));
    // With p = 1 / (1 + omega) the root is omega / sqrt(n).
    CHECK(marina{rand_k{2}}.compose<double, host>(convex).step.rate ==
          doctest::Approx(1 / (6 * (1 + 3 / std::sqrt(5.)))));
}

TEST_CASE("wrong arguments are refused with the reason, and its text has the right ones") {
    problem const p{8, 5, 3, .5, 7, 6};
    auto const compose = [&](auto const& m, problem const& of) { return m.template compose<double, host>(of); };
    CHECK_THROWS_WITH_AS(compose(marina{rand_k{2}, 1.5}, p), doctest::Contains("p = 1.5"), argument_error);
    CHECK_THROWS_AS(compose(marina{rand_k{2}, -.5}, p), argument_error);
    CHECK_THROWS_AS(compose(marina{rand_k{2}, std::nan("")}, p), argument_error);
    CHECK_THROWS_WITH_AS(compose(marina{rand_k{2}, 0, {.batch = 3}}, p), doctest::Contains("batch = 3"),
                         argument_error);
    CHECK_THROWS_WITH_AS(compose(marina{rand_k{2}, 0, {.memory = .5}}, p), doctest::Contains("memory"), argument_error);
    CHECK_THROWS_WITH_AS(compose(marina{any_compressor<>(top_k{2})}, p), doctest::Contains("top_k(2) is biased"),
                         theory_error);
    CHECK_THROWS_WITH_AS(compose(marina{rand_k{2}}, problem{8, 5, 3}), doctest::Contains("mean square"), theory_error);
    CHECK(compose(marina{rand_k{2}, .5, {.step = .5}}, problem{}).step.rate == .5);
    CHECK(to_string(marina{rand_k{2}}) == "marina(rand_k(2))");
    CHECK(to_string(marina{rand_k{2}, .25, {.step = .5}}) == "marina(rand_k(2), p=0.25, step=0.5)");
}
