// SPDX-License-Identifier: Apache-2.0
// EF21 falls at the rate of its theorem, on toys with known values and on real data, convex or not.
#include "laconic/method/ef21.hpp"

#include "laconic/any/compressor.hpp"
#include "laconic/compress/natural.hpp"
#include "laconic/compress/quantize.hpp"
#include "laconic/compress/rand_k.hpp"
#include "laconic/compress/top_k.hpp"
#include "laconic/method/gd.hpp"
#include "laconic/objective/logistic_regression.hpp"
#include "laconic/objective/nonconvex_logistic.hpp"
#include "support/data.hpp"
#include "support/solvers.hpp"
#include "support/test.hpp"
#include "support/toys.hpp"

using namespace laconic;

namespace tests_of_ef21 {

using namespace toys;

TEST_CASE("the worked example, with every memory") {
    auto const f = around({{4, 0}, {0, 3}});
    auto const whole = mean_of(f);
    double const least = known_optimum(f).value;
    auto const states = history(composed(ef21{top_k{1}, {.step = .1}}, f), f, vec{0, 0}, 4);
    vec const x[] = {{0, 0}, {.2, .15}, {.38, .3}, {.56, .42}, {.704, .54}};
    vec const first[] = {{-4, 0}, {-3.8, 0}, {-3.8, .3}, {-3.44, .3}};
    vec const second[] = {{0, -3}, {.2, -3}, {.2, -2.7}, {.56, -2.7}};
    double const gap[] = {3.125, 2.53125, 2.0322, 1.62, 1.300608};
    for (std::size_t k = 0; k <= 4; ++k) {
        CAPTURE(k);
        CHECK(std::sqrt(distance2(states[k].x[0], x[k])) < 1e-14);
        CHECK(whole.value(states[k].x[0]) - least == doctest::Approx(gap[k]).epsilon(1e-12));
        if (k == 4) break;
        CHECK(std::sqrt(distance2(states[k + 1].known[0], first[k])) < 1e-14);
        CHECK(std::sqrt(distance2(states[k + 1].known[1], second[k])) < 1e-14);
    }

    lockstep run(composed(ef21{top_k{1}, {.step = .1}}, f), f, {0, 0}, 1);
    run.rounds(50);
    CHECK(distance2(run.x(), vec{2, 1.5}) / 2 == doctest::Approx(4.53e-5).epsilon(2e-3));
    run.rounds(149);
    CHECK(distance2(run.x(), vec{2, 1.5}) / 2 == doctest::Approx(1.64e-19).epsilon(5e-3));
}

TEST_CASE("the example of Beznosikov et al.: constants, values and rate") {
    auto const f = beznosikov();
    auto const whole = mean_of(f);
    auto p = constants(f);
    double const step = composed(ef21{top_k{1}}, p).step.rate;
    CHECK(step == doctest::Approx(.004268781101).epsilon(1e-9));
    p.strong_convexity = 0;
    CHECK(composed(ef21{top_k{1}}, p).step.rate == doctest::Approx(.005859121085).epsilon(1e-9));

    lockstep run(composed(ef21{top_k{1}}, f), f, vec(3, 1.0), 1);
    std::size_t done = 0;
    for (auto const& known :
         {std::pair<std::size_t, double>{1, 1.777499}, {10, 1.644839}, {100, .6665822}, {1000, 7.976e-5}}) {
        run.rounds(known.first - done);
        done = known.first;
        CAPTURE(done);
        CHECK(whole.value(run.x()) == doctest::Approx(known.second).epsilon(done == 1000 ? 1e-4 : 5e-7));
    }
    double const before = whole.value(run.x());
    run.rounds(1000);
    CHECK(std::pow(whole.value(run.x()) / before, 1e-3) == doctest::Approx(.99002).epsilon(1e-5));

    lockstep bold(composed(ef21{top_k{1}, {.step = .02}}, f), f, vec(3, 1.0), 1);
    bold.rounds(100);
    CHECK(whole.value(bold.x()) == doctest::Approx(1.668e-2).epsilon(5e-4));
}

TEST_CASE("no stall and no floor where error feedback has one") {
    auto const stalled = around({{10, 0}, {-10, 0}});
    lockstep first(composed(ef21{top_k{1}, {.step = .1}}, stalled), stalled, {1, 1}, 1);
    for (double const known : {1.81, 1.45, 1.158, .928}) {
        first.round();
        CHECK(norm2(first.x()) == doctest::Approx(known).epsilon(5e-4));
    }
    first.rounds(47);
    CHECK(norm2(first.x()) == doctest::Approx(2.583e-5).epsilon(2e-4));
    first.rounds(50);
    CHECK(norm2(first.x()) == doctest::Approx(3.69e-10).epsilon(2e-3));

    auto const f = around({{3, 4}, {-1, -7}, {-2, 3}});
    lockstep run(composed(ef21{top_k{1}, {.step = .1}}, f), f, {1, 1}, 1);
    std::size_t done = 0;
    for (auto const& known :
         {std::pair<std::size_t, double>{1, 1.504444}, {11, .1595164}, {51, 2.062e-5}, {101, 2.84e-10}, {201, 5e-20}}) {
        run.rounds(known.first - done);
        done = known.first;
        CAPTURE(done);
        CHECK(norm2(run.x()) == doctest::Approx(known.second).epsilon(done > 100 ? .1 : done > 50 ? 5e-4 : 5e-7));
    }
}

TEST_CASE("the theorem's function falls by 1 - step mu every round") {
    for (std::uint64_t seed = 1; seed <= 4; ++seed)
        for (std::size_t kept : {1u, 3u, 6u}) {
            CAPTURE(seed);
            CAPTURE(kept);
            auto const f = random_ridges(4, 6, 1, seed);
            auto const p = constants(f);
            known_optimum const best(f);
            auto const whole = mean_of(f);
            auto const recursion = composed(ef21{top_k{kept}}, p);
            double const step = recursion.step.rate, theta = 1 - std::sqrt(1 - double(kept) / 6);
            lockstep run(recursion, f, vec(6, 2.0), 1);
            // x^k, and h_i once round k has been sent.
            auto const next = [&] {
                vec const x = run.x();
                run.round();
                double apart = 0;
                vec g(6);
                for (std::size_t i = 0; i < 4; ++i) {
                    f[i].gradient(x, g);
                    apart += distance2(g, run.known(i)) / 4;
                }
                return whole.value(x) - best.value + step / theta * apart;
            };
            double v = next(), worst = -1;
            for (int k = 0; k < 400; ++k) {
                double const after = next();
                worst = std::max(worst, after - (1 - step * p.strong_convexity) * v);
                v = after;
            }
            CHECK(worst <= 1e-12);
        }
}

TEST_CASE("real data: the theorem's function falls by 1 - step mu every round") {
    auto const data = test_data("australian");
    if (!data) return;
    auto rows = *data;
    binary_labels(rows);
    for (Eigen::Index j = 0; j < rows.rows.outerSize(); ++j)  // features of very different size
        for (dataset<>::matrix::InnerIterator i(rows.rows, j); i; ++i) i.valueRef() = std::tanh(i.value() / 10);
    double const lambda = .05;
    std::vector<logistic_regression<>> f;
    for (std::size_t i = 0; i < 5; ++i) f.emplace_back(rows.part(i, 5), lambda);
    logistic_regression<> const whole(rows.first(5 * (rows.samples() / 5)), lambda);
    auto const d = whole.dimension();
    problem p{d, 5, whole.smoothness(), lambda};
    for (auto const& each : f) p.mean_square_smoothness += square(each.smoothness()) / 5;
    p.mean_square_smoothness = std::sqrt(p.mean_square_smoothness);
    double const least = solvers::least_value(whole);
    auto const r = ef21{top_k{3}}.compose<double, host>(p);
    double const step = r.step.rate, theta = 1 - std::sqrt(1 - 3. / double(d));
    lockstep run(r, f, vec(d, 0.0), 1);
    double v = 0;
    for (int k = 0; k < 1500; ++k) {
        vec const x = run.x();
        run.round();
        double apart = 0;
        vec g(d);
        for (std::size_t i = 0; i < 5; ++i) {
            f[i].gradient(x, g);
            apart += distance2(g, run.known(i)) / 5;
        }
        double const next = whole.value(x) - least + step / theta * apart;
        if (k > 0) CHECK(next <= (1 - step * lambda) * v + 1e-13);
        v = next;
    }
    CHECK(v < 1e-2 * (whole.value(vec(d, 0.0)) - least));
}

namespace {

// mean |grad f(x^t)|^2 over T rounds, over the bound 2 (f(x^0) - least) / (step T) + G^0 / (theta T) of theorem 1,
// G^0 being mean |h_i - grad f_i(x^0)|^2 once the first round has been sent. The step is that for mu = 0.
template <class F>
double share_of_bound(std::vector<F> const& f, problem p, double least, std::size_t kept, vec const& start,
                      int rounds) {
    p.strong_convexity = 0;
    auto const r = composed(ef21{top_k{kept}}, p);
    double const theta = 1 - std::sqrt(1 - double(kept) / double(p.dimension)), step = r.step.rate;
    lockstep run(r, f, start, 1);
    double squares = 0, apart = 0;
    for (int t = 0; t < rounds; ++t) {
        auto const g = gradients(f, run.x());
        squares += norm2(mean_of(g)) / rounds;
        run.round();
        if (t == 0)
            for (std::size_t i = 0; i < f.size(); ++i) apart += distance2(run.known(i), g[i]) / double(f.size());
    }
    return squares / (2 * (mean_value(f, start) - least) / (step * rounds) + apart / (theta * rounds));
}

}  // namespace

TEST_CASE("for any smooth f: the mean square of the gradients is within the bound of theorem 1") {
    for (std::uint64_t seed = 1; seed <= 3; ++seed)
        for (std::size_t kept : {1u, 3u, 6u})
            for (int rounds : {1, 30, 300}) {
                auto const f = random_ridges(4, 6, 1, seed);
                CHECK(share_of_bound(f, constants(f), known_optimum(f).value, kept, vec(6, 2.0), rounds) <= 1);
            }
}

TEST_CASE("real data, not convex: the same, and as in the paper's experiments it reaches a stationary point") {
    auto const data = test_data("heart_scale");
    if (!data) return;
    double const lambda = .1;
    std::vector<nonconvex_logistic<>> f;
    problem p{13, 10, nonconvex_logistic<>(*data, lambda).smoothness()};
    for (std::size_t i = 0; i < 10; ++i) {
        f.emplace_back(data->part(i, 10), lambda);
        p.mean_square_smoothness += square(f[i].smoothness()) / 10;
    }
    p.mean_square_smoothness = std::sqrt(p.mean_square_smoothness);
    for (int rounds : {10, 300}) {
        double const share = share_of_bound(f, p, 0, 1, vec(13, 1.0), rounds);  // both parts of f are above 0
        CHECK(share <= 1);
        CHECK(share > 1e-3);
    }
    lockstep run(composed(ef21{top_k{1}}, p), f, vec(13, 1.0), 1);
    run.rounds(1500);
    CHECK(norm2(mean_of(gradients(f, run.x()))) < 1e-7);
}

TEST_CASE("with everything kept it is gradient descent; what the server keeps is the mean of the memories") {
    auto const f = random_ridges(4, 5, 1, 8);
    auto const p = constants(f);
    rates const given{.step = step_size{1, true}};
    auto const gradient = history(composed(gd{given}, p), f, vec(5, 1.0), 60);
    auto const whole = history(composed(ef21{identity{}, given}, p), f, vec(5, 1.0), 60);
    auto const kept = history(composed(ef21{top_k{5}, given}, p), f, vec(5, 1.0), 60);
    for (std::size_t k = 0; k <= 60; ++k) {
        CHECK(std::sqrt(distance2(gradient[k].x[0], whole[k].x[0])) < 1e-12);
        CHECK(whole[k].x[0] == kept[k].x[0]);
    }
    auto const some = history(composed(ef21{top_k{2}}, p), f, vec(5, 1.0), 200);
    for (std::size_t k : {1u, 10u, 200u}) {
        auto const mean = mean_of(some[k].known);
        for (auto const& h : some[k].mean_shift)
            CHECK(std::sqrt(distance2(h, mean)) < 1e-13 * (1 + std::sqrt(norm2(mean))));
    }
}

TEST_CASE("the numbers of the theorem, by hand") {
    problem const p{8, 5, 4, .5, 9, 6};  // delta = 7/16: theta = 1/4, beta = 9/4
    auto const r = composed(ef21{top_k{3.5 / 8}}, problem{16, 5, 4, .5, 9, 6});
    CHECK(r.step.rate == doctest::Approx(1 / (4 + 6 * std::sqrt(18.))));
    CHECK(r.feedback.rate() == 1);
    CHECK_FALSE(r.feedback.keeps_residual());
    CHECK(r.scale == 1);
    CHECK(composed(ef21{top_k{3.5 / 8}}, problem{16, 5, 4, 0, 9, 6}).step.rate == doctest::Approx(1. / 22));
    CHECK(composed(ef21{top_k{3.5 / 8}}, problem{16, 5, .1, .1, .1, .1}).step.rate ==
          doctest::Approx(std::min(1 / (.1 + .1 * std::sqrt(18.)), 1.25)));
    CHECK(composed(ef21{top_k{3.5 / 8}}, problem{16, 5, .01, .2, .01, .01}).step.rate == doctest::Approx(.625));
    CHECK(composed(ef21{identity{}}, p).step.rate == doctest::Approx(.25));
    CHECK(composed(ef21{top_k{4} | natural{}, {.step = .5}}, p).step.rate == .5);
}

TEST_CASE("wrong arguments are refused with the reason") {
    problem const p{8, 5, 4, .5, 9, 6};
    CHECK_THROWS_WITH_AS(composed(ef21{any_compressor<>(rand_k{2})}, p), doctest::Contains("rand_k(2)"), theory_error);
    CHECK_THROWS_WITH_AS(composed(ef21{top_k{2}}, problem{8, 5, 4, .5, 9, 0}), doctest::Contains("mean square"),
                         theory_error);
    CHECK_THROWS_WITH_AS(composed(ef21{top_k{0}}, p), doctest::Contains("delta above 0"), theory_error);
    CHECK_THROWS_WITH_AS(composed(ef21{top_k{2}, {.memory = .5}}, p), doctest::Contains("its memory rate is fixed"),
                         argument_error);
    CHECK_THROWS_WITH_AS(composed(ef21{top_k{2}, {.batch = 4}}, p), doctest::Contains("gradients of all rows"),
                         theory_error);
    CHECK(composed(ef21{top_k{2}, {.step = .1, .batch = 4}}, p).step.rate == .1);
    CHECK_THROWS_AS(composed(ef21{top_k{2}, {.step = 0.}}, p), argument_error);
}

TEST_CASE("its text has its arguments") {
    CHECK(to_string(ef21{top_k{.01} | natural{}}) == "ef21(top_k(0.01) | natural)");
}

}  // namespace tests_of_ef21
