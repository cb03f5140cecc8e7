// SPDX-License-Identifier: Apache-2.0
// The parts of convergence: a toy's constants, its exact expectations, and what breaks a bound, by hand.
#include "convergence/line.hpp"
#include "convergence/moments.hpp"
#include "support/test.hpp"

using namespace convergence;

TEST_CASE("convergence: a toy's constants and optimum, by hand") {
    toy const f({worker({{{1, 4}, {3, 0}}}), worker({{{2, 1}, {0, 5}}, {{4, 1}, {0, 5}}})}, {1, 1});
    CHECK(f.curvature == vec{2, 2.5});
    CHECK(f.optimum == vec{.75, 1});  // (1 * 3 + 3 * 0) / 4, (4 * 0 + 1 * 5) / 5
    CHECK(f.gradients[0] == vec{-2.25, 4});
    CHECK(f.gradients[1] == vec{2.25, -4});
    CHECK(f.heterogeneity == 2.25 * 2.25 + 16);
    CHECK(f.gap(vec{1.75, 1}) == 1);
    auto const& p = f.constants;
    CHECK(p.smoothness == 2.5);
    CHECK(p.strong_convexity == 2);
    CHECK(p.largest_smoothness == 4);
    CHECK(p.mean_square_smoothness == doctest::Approx(std::sqrt(12.5)));
    CHECK(p.least_strong_convexity == 1);
    CHECK(p.samples == 2);
    CHECK(p.largest_sample_smoothness == 4);
    CHECK(f.constants_of(1).own_smoothness == 3);
    vec g(2);
    std::uint32_t const row = 1;
    f.workers[1].batch_gradient(std::span(&row, 1), vec{1, 1}, g);
    CHECK(g == vec{4, -4});
    CHECK(f.workers[1].value(vec{1, 1}) == (2. / 2 + 8 + 4. / 2 + 8) / 2);
    CHECK(f.memory_error({{0, 0}, {0, 0}}) == f.heterogeneity);
}

TEST_CASE("convergence: expectations that are known otherwise") {
    // 20000 runs of another program agree with these of diana: n = 4, d = 10, rand_k(1), centres +-(1, .., 1).
    auto const f = spheres(4, 10, 1, 1);
    auto const check = [&](double alpha, double step, std::size_t k, double expected) {
        CHECK(diana_moments(f, 9, alpha, step, k)[k] == doctest::Approx(expected).epsilon(1e-10));
    };
    check(.1, .05, 1, 9.1375);
    check(.1, .05, 2, 8.3460859375);
    check(.1, .05, 10, 4.00624921636);
    check(.1, .05, 100, .00199722541618);
    check(.05, .05, 50, .125848252177);
    check(.1, .1, 100, .00189271103547);
    // Compressors that lose nothing: gradient descent, (1 - step)^2 a round.
    for (double const x :
         {diana_moments(f, 0, 1, .25, 3)[3], ef_moments(f, 1, .25, 3)[3], ef21_moments(f, 1, .25, 3)[3],
          masked_moments(
              f, 1, [](std::size_t) { return .25; }, 3)[3],
          isaga_moments(f, 1, .25, 3)[3]})
        CHECK(x == doctest::Approx(10 * std::pow(.75, 6)));
    // Rows that are all alike are diana: one row of curvature 1.
    CHECK(vr_diana_moments(f, 9, .1, .05, 10)[10] == doctest::Approx(4.00624921636));
    // One worker with rows of curvature 1/2 and 1, both tables at the start: 3/4 x, then a row's correction of it.
    auto const two = layered(1, 1, 2, 0, 1);
    double const after = 1 - .75 * .5;
    double const low = after - .5 * (.5 * (after - 1) + .75), high = after - .5 * ((after - 1) + .75);
    CHECK(isaga_moments(two, 1, .5, 1)[1] == doctest::Approx(after * after));
    CHECK(isaga_moments(two, 1, .5, 2)[2] == doctest::Approx((low * low + high * high) / 2));
    // One worker, error feedback of a coordinate sent with probability q, by hand: X_1, then X_2.
    auto const one = spheres(1, 1, 0, 1);
    double const q = .5, s = .5, x1 = 1 - 2 * q * s + q * s * s;
    CHECK(ef_moments(one, q, s, 1)[1] == doctest::Approx(x1));
    // After sending: x = 1/2, e = 0; after not: x = 1, e = 1/2.
    double const sent = q * .25 * .25 + (1 - q) * .25, kept = q * 0 + (1 - q) * 1;
    CHECK(ef_moments(one, q, s, 2)[2] == doctest::Approx(q * sent + (1 - q) * kept));
    // ef21: after sending h = 1 and x = 1/2, after not h = 0 and x = 1.
    CHECK(ef21_moments(one, q, s, 2)[2] ==
          doctest::Approx(q * (q * .0625 + (1 - q) * 0) + (1 - q) * (q * .25 + (1 - q))));
}

TEST_CASE("convergence: means over runs and their standard errors, by hand") {
    auto const run = [](std::uint64_t seed) { return vec{2, static_cast<double>(seed)}; };
    auto const three = averaged(3, run);
    CHECK(three.mean == vec{2, 2});
    CHECK(three.error[0] == 0);
    CHECK(three.error[1] == doctest::Approx(1 / std::sqrt(3.)));  // the variance of 1, 2, 3 is 1
    CHECK(averaged(1, run).mean == vec{2, 1});
    CHECK(averaged(1, run).error == vec{0, 0});
}

TEST_CASE("convergence: what breaks a bound, and what does not") {
    CHECK(geometric(8, .5, 1, 2) == vec{8, 5, 3.5});
    vec const bound = spoiled({8, 6, 3}, 1.2);
    CHECK(bound[1] == doctest::Approx(8 * .7));
    CHECK(bound[2] == doctest::Approx(8 * .7 * .4));
    line l{"m", "t", "p", {{8, 4, 2}, {0, 0, 0}}, {8, 4, 2}, true, 1};
    CHECK(judge(l).holds);
    CHECK(judge(l).worst == 1);
    CHECK(judge(l).tightness == 1);
    auto const with = [&](double mean, double error, bool is_exact) {
        auto changed = l;
        changed.run = {{8, 4, mean}, {0, 0, error}};
        changed.is_exact = is_exact;
        return judge(changed);
    };
    CHECK_FALSE(with(2.1, 0, false).holds);
    CHECK(with(2.1, 0, false).broken_at == 2);
    CHECK(with(2.1, 0, false).worst == doctest::Approx(1.05));
    CHECK(with(2.1, .021, false).holds);
    CHECK_FALSE(with(2.1, .019, false).holds);
    CHECK(with(1.9, 0, false).holds);
    CHECK_FALSE(with(1.9, 0, true).holds);
    CHECK(with(1.9, .021, true).holds);
    CHECK(with(2 * (1 + 1e-9), 0, true).holds);
    CHECK_FALSE(with(2 * (1 + 1e-8), 0, true).holds);
    CHECK(with(1, 0, false).tightness == doctest::Approx(1.5));
    CHECK_FALSE(with(std::nan(""), 0, false).holds);
}
