// SPDX-License-Identifier: Apache-2.0
// SGD stays within its theorem's distance of the optimum, which falls with the batch, and is gd for one row.
#include "laconic/method/sgd.hpp"

#include "laconic/compress/rand_k.hpp"
#include "laconic/method/gd.hpp"
#include "support/real_data.hpp"
#include "support/sums.hpp"
#include "support/test.hpp"

using namespace laconic;
using namespace toys;

static_assert(Method<sgd>);

TEST_CASE("the theorem, in exact expectation over all rows that two workers can draw") {
    for (std::uint64_t seed = 1; seed <= 4; ++seed) {
        CAPTURE(seed);
        auto const f = random_sums(2, 3, {{2, -1, 0, 1}, {-1, 3, 1, 1}}, 1, seed);
        auto const p = constants(f);
        known_optimum const best(wholes(f));
        auto const recursion = sgd{}.compose<double, host>(p);
        double const step = recursion.step.rate;
        CHECK(step == doctest::Approx(1 / (p.smoothness + 2 * p.largest_sample_smoothness / 2)));
        double const noise = 2 * step * step / 2 * variance_of_rows(f, best.x);
        double largest_ratio = 0;
        for (double const away : {1e-3, .1, 1., 30.})
            for (std::uint64_t direction = 0; direction < 6; ++direction) {
                vec x = best.x;
                for (std::size_t j = 0; j < x.size(); ++j) x[j] += away * (key{seed}.child(direction).uniform(j) - .5);
                double const next =
                    first_round_mean(recursion, f, x, 9, [&](auto& run) { return distance2(run.x(), best.x); });
                largest_ratio =
                    std::max(largest_ratio, next / ((1 - step * p.strong_convexity) * distance2(x, best.x) + noise));
            }
        CHECK(largest_ratio <= 1 + 1e-12);
        CHECK(largest_ratio > .3);
    }
}

TEST_CASE("real data: the theorem in exact expectation over the rows, along a run") {
    auto const real = real_data(10);
    if (!real) return;
    auto const& f = real->f;
    auto const& p = real->p;
    auto const& best = real->best;
    auto const r = composed(sgd{}, p);
    double const step = r.step.rate;
    double const noise = 2 * step * step / 10 * variance_of_choices(row_gradients(f, best.x));
    lockstep run(r, f, vec(13, 0.0), 1);
    double largest_ratio = 0;
    for (std::size_t const wait : {0u, 10u, 100u, 1000u}) {
        run.rounds(wait);
        // All of 13 coordinates: nothing is left to chance but the rows.
        double const next = expected_round(rand_k{13}, 0, step, row_gradients(f, run.x()), run.x(), {}, best).x;
        double const bound = (1 - step * p.strong_convexity) * distance2(run.x(), best.x) + noise;
        largest_ratio = std::max(largest_ratio, next / bound);
    }
    CHECK(largest_ratio <= 1 + 1e-12);
    CHECK(largest_ratio > .7);
}

TEST_CASE("it stalls within the theorem's distance, and larger batches come nearer") {
    auto const f = random_sums(4, 10, {vec(5, 1.0), vec(5, 2.0), vec(5, -1.0), vec(5, 0.0)}, 1, 3);
    auto const p = constants(f);
    known_optimum const best(wholes(f));
    double last = 1e300;
    for (std::size_t const batch : {1u, 4u, 16u}) {
        rates const given{.step = .01, .batch = batch};
        auto const recursion = sgd{given}.compose<double, host>(p);
        lockstep run(recursion, f, vec(5, 0.0), 2);
        run.rounds(3000);
        double tail = 0;
        for (int k = 0; k < 4000; ++k) {
            run.round();
            tail += distance2(run.x(), best.x) / 4000;
        }
        CHECK(tail <= 2 * .01 * variance_of_rows(f, best.x) / (p.strong_convexity * 4 * double(batch)));
        CHECK(tail > 1e-8);
        CHECK(tail < last / 2);
        last = tail;
    }
}

TEST_CASE("one row a worker is all rows: gd, bit for bit") {
    auto const f = random_sums(3, 1, {{1, 2}, {3, 4}, {-1, 0}}, 1, 1);
    rates const given{.step = step_size{1, true}};
    lockstep a(sgd{given}.compose<double, host>(constants(f)), f, vec(2, 5.0), 1);
    lockstep b(gd{given}.compose<double, host>(constants(f)), f, vec(2, 5.0), 1);
    for (int k = 0; k < 20; ++k) {
        a.round();
        b.round();
        CHECK(a.x() == b.x());
    }
}

TEST_CASE("its step by hand, and wrong arguments refused with the reason") {
    problem p{8, 5, 4, .5, 7, 6};
    CHECK_THROWS_WITH_AS((sgd{}.compose<double, host>(p)), doctest::Contains("sgd: its theorem needs max L_ij"),
                         theory_error);
    p.largest_sample_smoothness = 10;
    CHECK(sgd{}.compose<double, host>(p).step.rate == doctest::Approx(1. / (4 + 2 * 10 / 5.)));
    CHECK(sgd{{.batch = 4}}.compose<double, host>(p).step.rate == doctest::Approx(1. / (4 + 2 * 10 / 20.)));
    CHECK(sgd{{.step = .1}}.compose<double, host>(problem{}).step.rate == .1);
    p.smoothness = 0;
    CHECK_THROWS_WITH_AS((sgd{}.compose<double, host>(p)), doctest::Contains("smoothness L"), theory_error);
    CHECK_THROWS_AS((sgd{{.memory = .5}}.compose<double, host>(p)), argument_error);
    auto const bowls = around({{1, 2}});
    CHECK_THROWS_WITH_AS(history(composed(sgd{{.step = .1}}, bowls), bowls, vec{0, 0}, 1),
                         doctest::Contains("no samples to draw from"), argument_error);
}

TEST_CASE("its text has its arguments") {
    CHECK(to_string(sgd{}) == "sgd(batch=1)");
    CHECK(to_string(sgd{{.step = .1, .batch = 8}}) == "sgd(step=0.1, batch=8)");
}
