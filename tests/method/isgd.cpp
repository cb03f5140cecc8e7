// SPDX-License-Identifier: Apache-2.0
// ISGD comes to the optimum of workers that differ like 1 / t, with the constants of its theorem.
#include "laconic/method/isgd.hpp"

#include "support/real_data.hpp"
#include "support/sums.hpp"
#include "support/test.hpp"

using namespace laconic;
using namespace toys;

static_assert(Method<isgd>);

TEST_CASE("the theorem's 1 / t, with its constants, where the workers differ" * doctest::test_suite("slow")) {
    auto const f = random_sums(4, 3, {{1, 2, 0, 0}, {-1, 0, 1, 2}, {0, 0, 3, -1}, {2, -2, 1, 1}}, 1, 2);
    auto const p = constants(f);
    known_optimum const best(wholes(f));
    vec const start(4, 5.0);
    for (std::size_t const batch : {0u, 1u}) {
        CAPTURE(batch);
        auto const r = isgd{1, 1, {.batch = batch}}.compose<double, host>(p);
        double const tau = .25, c = p.strong_convexity * tau / 4, l = p.largest_smoothness, mu = p.strong_convexity;
        double a = 2 * (tau + 2 * (1 - tau) / 4) * l;
        if (batch > 0) a = std::max(a, a / 2 + 2 * p.largest_sample_smoothness / 4);
        CHECK(r.step.rate() == doctest::Approx(1 / a));
        double const noise = (batch > 0 ? 2 * variance_of_rows(f, best.x) : 0) + 2 * (1 - tau) * best.disagreement();
        double const height = std::max(a * distance2(start, best.x), 4 * noise / (3 * 4 * mu));
        std::vector<double> mean(5), square(5);
        std::size_t const runs = 20;
        for (std::uint64_t seed = 0; seed < runs; ++seed) {
            lockstep run(r, f, start, seed);
            for (std::size_t s = 0; s < 5; ++s) {
                run.rounds(s == 0 ? 50 : 50u << (2 * s - 2));
                double const v = distance2(run.x(), best.x);
                mean[s] += v / double(runs);
                square[s] += v * v / double(runs);
            }
        }
        double taken = 0;
        for (std::size_t s = 0; s < 5; ++s) {
            taken += s == 0 ? 50 : double(50u << (2 * s - 2));
            CHECK(mean[s] - 5 * std::sqrt(square[s] / double(runs)) <= height / (a + c * taken));
        }
        CHECK(mean[4] < mean[2] / 2);  // it goes on; a constant step would not
        CHECK(mean[4] > 1e-9);
    }
}

TEST_CASE("real data: the theorem's 1 / t, with its constants, for all rows and for one" *
          doctest::test_suite("slow")) {
    auto const real = real_data(10);
    if (!real) return;
    auto const& f = real->f;
    auto const& p = real->p;
    auto const& best = real->best;
    double const tau = 2. / 13, mu = p.strong_convexity, c = mu * tau / 4, l = p.largest_smoothness;
    double const sigma2 = variance_of_choices(row_gradients(f, best.x));
    for (std::size_t const batch : {0u, 1u}) {
        CAPTURE(batch);
        auto const r = isgd{2, 1, {.batch = batch}}.compose<double, host>(p);
        double a = 2 * (tau + 2 * (1 - tau) / 10) * l;
        if (batch > 0) a = std::max(a, a / 2 + 2 * p.largest_sample_smoothness / 10);
        CHECK(r.step.rate() == doctest::Approx(1 / a));
        double const noise = (batch > 0 ? 2 * sigma2 : 0) + 2 * (1 - tau) * best.disagreement();
        double const height = std::max(a * norm2(best.x), 4 * noise / (3 * 10 * mu));
        std::size_t const runs = 5;
        double square_last = 0, last = 0, middle = 0;
        for (std::uint64_t seed = 0; seed < runs; ++seed) {
            lockstep run(r, f, vec(13, 0.0), seed);
            run.rounds(200);
            middle += distance2(run.x(), best.x) / runs;
            run.rounds(800);
            double const v = distance2(run.x(), best.x);
            last += v / runs;
            square_last += v * v / runs;
        }
        double const error = std::sqrt((square_last - last * last) / (runs - 1));
        CHECK(last + 5 * error <= height / (a + c * 1000));
        CHECK(last < middle);
    }
}

TEST_CASE("a step that is given is constant: ibcd, bit for bit") {
    auto const f = random_ridges(3, 6, 1, 4);
    lockstep a(isgd{2, 1, {.step = .125}}.compose<double, host>(constants(f)), f, vec(6, 1.0), 1);
    lockstep b(ibcd{2, 1, {.step = .125}}.compose<double, host>(constants(f)), f, vec(6, 1.0), 1);
    for (int k = 0; k < 20; ++k) {
        a.round();
        b.round();
        CHECK(a.x() == b.x());
    }
}

TEST_CASE("its numbers by hand, and wrong arguments refused with the reason") {
    problem p{16, 8, 5, .5, 6, 6};
    CHECK(to_string(isgd{.25, 4}.compose<double, host>(p).step) == "decreasing_step(5.25, 0.03125)");
    CHECK_THROWS_WITH_AS((isgd{.25, 4, {.batch = 2}}.compose<double, host>(p)), doctest::Contains("max L_ij"),
                         theory_error);
    // tau 1/4, n 8: a = 2 (1/4 + 2 (3/4) / 8) 6 = 5.25; batches of 2 ask for 2.625 + 2 L_ij / 16, and for a at least.
    p.largest_sample_smoothness = 6;
    CHECK(isgd{.25, 4, {.batch = 2}}.compose<double, host>(p).step.rate() == doctest::Approx(1 / 5.25).epsilon(1e-12));
    p.largest_sample_smoothness = 80;
    CHECK(isgd{.25, 4, {.batch = 2}}.compose<double, host>(p).step.rate() == doctest::Approx(1 / (2.625 + 10)));
    p.strong_convexity = 0;
    CHECK_THROWS_WITH_AS((isgd{.25, 4}.compose<double, host>(p)), doctest::Contains("isgd: its theorem needs mu"),
                         theory_error);
    CHECK(isgd{.25, 4, {.step = .5}}.compose<double, host>(problem{}).step.rate() == .5);
    CHECK_THROWS_AS((isgd{.25, 4, {.step = .5, .memory = .25}}.compose<double, host>(p)), argument_error);
}

TEST_CASE("its text has its arguments") {
    CHECK(to_string(isgd{}) == "isgd(block=256)");
    CHECK(to_string(isgd{.1, 8, {.batch = 4}}) == "isgd(tau=0.1, block=8, batch=4)");
}
