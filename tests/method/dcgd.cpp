// SPDX-License-Identifier: Apache-2.0
// DCGD stays within its theorem's distance of the optimum, unbiased or of one worker, and is refused elsewhere.
#include "laconic/method/dcgd.hpp"

#include "laconic/any/compressor.hpp"
#include "laconic/compress/natural.hpp"
#include "laconic/compress/parts.hpp"
#include "laconic/compress/quantize.hpp"
#include "laconic/compress/rand_k.hpp"
#include "laconic/compress/top_k.hpp"
#include "support/real_data.hpp"
#include "support/sums.hpp"
#include "support/test.hpp"

using namespace laconic;
using namespace toys;

static_assert(Method<dcgd<quantize>>);

namespace {

// n workers in R^d whose centres are +1s and -1s in turn: their mean is 0, and |grad f_i(x*)|^2 = d.
workers pulling_apart(int n, std::size_t d) {
    std::vector<vec> centres;
    for (int i = 0; i < n; ++i) centres.emplace_back(d, i % 2 == 0 ? 1.0 : -1.0);
    return around(centres);
}

}  // namespace

TEST_CASE("the level at which it stalls is known exactly") {
    struct line {
        int n;
        std::size_t d;
        double step, limit, factor;  // factor 0: not checked
    };
    // By hand, with omega = d - 1 and zeta^2 = d: the factor is (1 - step)^2 + step^2 omega / n, and the limit of
    // E|x|^2 / zeta^2 is step omega / (n (2 - step) - step omega).
    for (auto const& known : {line{4, 10, .05, .0612244898, .908125}, line{4, 10, .1, 9. / 67, 0},
                              line{2, 2, .5, .2, 0}, line{10, 10, .1, .0497237569, 0}}) {
        CAPTURE(known.n);
        CAPTURE(known.step);
        auto const d = known.d;
        auto const f = pulling_apart(known.n, d);
        known_optimum const best(f);
        double const zeta2 = best.disagreement();
        CHECK(zeta2 == doctest::Approx(static_cast<double>(d)));
        // E|x+|^2 = a |x|^2 + c zeta^2, so two points give a and c.
        auto const next = [&](vec const& x) { return expected_round(rand_k{1}, 0, known.step, f, x, {}, best).x; };
        vec far(d, 2.0);
        far[0] = -7;
        double const c = next(vec(d, 0.0)) / zeta2;
        double const a = (next(far) - c * zeta2) / norm2(far);
        if (known.factor > 0) CHECK(a == doctest::Approx(known.factor).epsilon(1e-12));
        CHECK(c / (1 - a) == doctest::Approx(known.limit).epsilon(1e-9));
    }
}

TEST_CASE("many runs from the library's own keys agree with the known level") {
    auto const f = pulling_apart(4, 10);
    auto const recursion = composed(dcgd{rand_k{1}, {.step = .1}}, f);
    estimate const tail(300, [&](std::size_t seed) {
        lockstep run(recursion, f, vec(10, 1.0), seed);
        run.rounds(100);
        double sum = 0;
        for (int k = 0; k < 200; ++k) {
            run.round();
            sum += norm2(run.x()) / 200;
        }
        return sum;
    });
    CHECK(std::abs(tail.mean - 10 * 9. / 67) < 5 * tail.error);
    CHECK(tail.error < .02);
}

TEST_CASE("one-thread runs are runs of the real loop, bit for bit") {
    auto const f = random_ridges(3, 6, 1, 3);
    auto const recursion = composed(dcgd{rand_k{2}}, f);
    auto const real = history(recursion, f, vec(6, 1.0), 40, 9);
    lockstep run(recursion, f, vec(6, 1.0), 9);
    for (std::size_t k = 1; k <= 40; ++k) {
        run.round();
        for (auto const& x : real[k].x) REQUIRE(x == run.x());
    }
}

TEST_CASE("the neighbourhood of its theorem holds in every round, in expectation") {
    for (std::uint64_t seed = 1; seed <= 3; ++seed)
        for (std::size_t k : {1u, 3u, 5u}) {
            CAPTURE(seed);
            CAPTURE(k);
            auto const f = random_ridges(4, 6, 1, seed);
            auto const p = constants(f);
            known_optimum const best(f);
            double const step = composed(dcgd{rand_k{k}}, p).step.rate, omega = 6. / double(k) - 1;
            double const noise = 2 * step * step * omega / p.workers * best.disagreement();
            double largest_ratio = 0;
            for (double const away : {1e-3, .1, 1., 30.})
                for (std::uint64_t direction = 0; direction < 6; ++direction) {
                    vec x = best.x;
                    for (std::size_t j = 0; j < x.size(); ++j)
                        x[j] += away * (key{seed}.child(direction).uniform(j) - .5);
                    double const next = expected_round(rand_k{k}, 0, step, f, x, {}, best).x;
                    largest_ratio = std::max(largest_ratio,
                                             next / ((1 - step * p.strong_convexity) * distance2(x, best.x) + noise));
                }
            CHECK(largest_ratio <= 1 + 1e-12);
            CHECK(largest_ratio > .3);  // the bound is not void
        }
}

TEST_CASE("batches: its theorem over all rows and all sets of coordinates that two workers can draw") {
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
        CAPTURE(seed);
        auto const f = random_sums(2, 2, {{2, -1, 0}, {-1, 3, 1}}, 1, seed);
        auto const p = constants(f);
        known_optimum const best(wholes(f));
        auto const r = dcgd{rand_k{1}, {.batch = 1}}.compose<double, host>(p);
        double const step = r.step.rate, omega = 2;
        CHECK(step == doctest::Approx(1 / (p.smoothness + 2 * omega * p.largest_smoothness / 2 +
                                           2 * 3 * p.largest_sample_smoothness / 2)));
        double const noise = step * step / 2 * (2 * omega * best.disagreement() + 2 * 3 * variance_of_rows(f, best.x));
        double largest_ratio = 0;
        for (double const away : {1e-3, 1., 30.})
            for (std::uint64_t direction = 0; direction < 4; ++direction) {
                vec x = best.x;
                for (std::size_t j = 0; j < 3; ++j) x[j] += away * (key{seed}.child(direction).uniform(j) - .5);
                double const next =
                    first_round_mean(r, f, x, 36, [&](auto& run) { return distance2(run.x(), best.x); });
                largest_ratio =
                    std::max(largest_ratio, next / ((1 - step * p.strong_convexity) * distance2(x, best.x) + noise));
            }
        CHECK(largest_ratio <= 1 + 1e-12);
        CHECK(largest_ratio > .3);
    }
}

TEST_CASE("real data: its neighbourhood in exact expectation along a run, of all rows and of one row a worker") {
    auto const real = real_data(10);
    if (!real) return;
    auto const& f = real->f;
    auto const& p = real->p;
    auto const& best = real->best;
    double const sigma2 = variance_of_choices(row_gradients(f, best.x));
    for (std::size_t const batch : {0u, 1u}) {
        CAPTURE(batch);
        rand_k const c{batch == 0 ? 3 : 1};
        auto const r = composed(dcgd{c, {.batch = batch}}, p);
        double const step = r.step.rate, omega = c.omega(13);
        double const noise =
            step * step / 10 * (2 * omega * best.disagreement() + (batch > 0 ? 2 * (1 + omega) * sigma2 : 0));
        lockstep run(r, f, vec(13, 0.0), 1);
        double largest_ratio = 0;
        for (std::size_t const wait : {0u, 10u, 100u, 1000u}) {
            run.rounds(wait);
            auto const choices = batch == 0 ? certain(gradients(f, run.x())) : row_gradients(f, run.x());
            double const next = expected_round(c, 0, step, choices, run.x(), {}, best).x;
            double const bound = (1 - step * p.strong_convexity) * distance2(run.x(), best.x) + noise;
            largest_ratio = std::max(largest_ratio, next / bound);
        }
        CHECK(largest_ratio <= 1 + 1e-12);
        CHECK(largest_ratio > .7);
    }
}

TEST_CASE("real data: TernGrad's rounding, within the theorem's distance from the optimum") {
    auto const real = real_data(10);
    if (!real) return;
    auto const& f = real->f;
    auto const& p = real->p;
    auto const& best = real->best;
    quantize const c{1, 0, p_norm::largest};
    auto const r = composed(dcgd{c}, p);
    double const step = r.step.rate, omega = (std::sqrt(13.) - 1) / 2, mu = p.strong_convexity;
    CHECK(step == doctest::Approx(1 / (p.smoothness + 2 * omega * p.largest_smoothness / 10)));
    std::size_t const rounds = 300;
    estimate const away(12, [&](std::size_t seed) {
        lockstep run(r, f, vec(13, 0.0), seed);
        run.rounds(rounds);
        return distance2(run.x(), best.x);
    });
    double const bound =
        std::pow(1 - step * mu, double(rounds)) * norm2(best.x) + step / (10 * mu) * 2 * omega * best.disagreement();
    CHECK(away.mean + 5 * away.error <= bound);
    CHECK(away.mean > .001 * bound);
}

TEST_CASE("a biased compressor without memory diverges on the example of Beznosikov et al., for every step") {
    auto const f = beznosikov();
    CHECK(mean_of(f).value(vec(3, 1.0)) == doctest::Approx(1.75));
    auto const p = constants(f);
    CHECK(p.strong_convexity == doctest::Approx(7. / 6));
    CHECK(p.smoothness == doctest::Approx(103. / 6));
    CHECK(p.largest_smoothness == doctest::Approx(34.5));
    CHECK(p.mean_square_smoothness == doctest::Approx(34.5));
    for (auto const& [step, after_ten] :
         {std::pair{.1, 5.383577673260}, {.05, 2.403811984546}, {.01, 1.199222031603}}) {
        auto const states = history(composed(dcgd{top_k{1}, {.step = step}}, p), f, vec(3, 1.0), 10);
        for (double const v : states[10].x[0]) {
            CHECK(v == doctest::Approx(after_ten).epsilon(1e-12));
            CHECK(v == doctest::Approx(std::pow(1 + 11 * step / 6, 10)).epsilon(1e-12));
        }
    }
}

TEST_CASE("a biased compressor without memory stalls, or settles at a wrong point") {
    auto const stalled = around({{10, 0}, {-10, 0}});
    lockstep run(composed(dcgd{top_k{1}, {.step = .1}}, stalled), stalled, {1, 1}, 1);
    run.rounds(300);
    CHECK(std::abs(run.x()[0]) < 1e-12);
    CHECK(run.x()[1] == 1);

    auto const f = around({{3, 4}, {-1, -7}, {-2, 3}});
    lockstep wrong(composed(dcgd{top_k{1}, {.step = .1}}, f), f, {1, 1}, 1);
    wrong.rounds(300);
    CHECK(wrong.x()[0] == doctest::Approx(.53224).epsilon(1e-5));
    CHECK(std::abs(wrong.x()[1]) < 1e-9);
}

TEST_CASE("one worker needs no memory: a contractive compressor and step 1/L fall by 1 - delta mu/L") {
    Eigen::Vector3d const diagonal(1, 2, 4);
    workers const f{{diagonal.asDiagonal().toDenseMatrix(), Eigen::Vector3d::Zero(), 0}};
    auto const states = history(composed(dcgd{top_k{1}, {.step = step_size{1, true}}}, f), f, vec(3, 1.0), 5);
    double const known[] = {3.5, 1.5, .75, .53125, .34375, .220703125};
    for (std::size_t k = 0; k <= 5; ++k) CHECK(f[0].value(states[k].x[0]) == doctest::Approx(known[k]).epsilon(1e-12));
}

TEST_CASE("one worker may use parts that are contractive, chosen at run time or not; of mixed parts each is asked") {
    Eigen::Vector3d const diagonal(1, 2, 4);
    workers const f{{diagonal.asDiagonal().toDenseMatrix(), Eigen::Vector3d::Zero(), 0}};
    parts<top_k<>> const typed{{1, top_k{1}}, {2, top_k{1}}};
    CHECK(composed(dcgd{typed}, f).step.rate == 1. / 4);
    CHECK(composed(dcgd{any_compressor<>(typed)}, f).step.rate == 1. / 4);
    using any = any_compressor<>;
    auto const of = [](any a, any b) { return any(parts<any>{{1, std::move(a)}, {2, std::move(b)}}); };
    CHECK(composed(dcgd{of(top_k{1}, natural{})}, f).step.rate == 1. / 4);
    CHECK((is_contractive(of(top_k{1}, top_k{1})) && !is_unbiased(of(top_k{1}, natural{}))));
    CHECK(is_unbiased(of(rand_k{1}, natural{})));
    CHECK(composed(dcgd{of(identity{}, natural{})}, f).step.rate == doctest::Approx(1 / (4 + 2 * .125 * 4)));
}

TEST_CASE("where nothing is left out it is gradient descent") {
    auto const f = random_ridges(4, 5, 1, 8);
    auto const p = constants(f);
    auto const whole = history(composed(dcgd{identity{}, {.step = .01}}, p), f, vec(5, 1.0), 50);
    auto const chosen = history(composed(dcgd{rand_k{5}, {.step = .01}}, p), f, vec(5, 1.0), 50);
    CHECK(whole[50].x[0] == chosen[50].x[0]);
    CHECK(whole[50].x[3] == whole[50].x[0]);
    CHECK(whole[50].known[0].empty());
    CHECK(whole[50].residual[0].empty());
}

TEST_CASE("the step of the theorem, by hand") {
    problem const p{8, 5, 3, .5, 7, 6};
    CHECK(composed(dcgd{rand_k{2}}, p).step.rate == doctest::Approx(1 / (3 + 2 * 3 * 7 / 5.)));
    CHECK(composed(dcgd{natural{}}, p).step.rate == doctest::Approx(1 / (3 + 2 * .125 * 7 / 5.)));
    CHECK(composed(dcgd{identity{}}, p).step.rate == doctest::Approx(1. / 3));
    CHECK(composed(dcgd{rand_k{2}, {.step = step_size{.5, true}}}, p).step.rate == doctest::Approx(.5 / 3));
    CHECK(composed(dcgd{rand_k{2}, {.step = .125}}, problem{8, 5, 0, 0, 0, 0}).step.rate == .125);
    auto const r = composed(dcgd{rand_k{2}}, p);
    CHECK(r.feedback.rate() == 0);
    CHECK_FALSE(r.feedback.keeps_residual());
    CHECK(r.scale == 1);
    CHECK(to_string(r.compressor) == "rand_k(2)");
}

TEST_CASE("wrong arguments are refused with the reason") {
    problem const p{8, 5, 3, .5, 7, 6};
    CHECK_THROWS_WITH_AS(composed(dcgd{top_k{2}}, p), doctest::Contains("top_k(2) is biased"), theory_error);
    CHECK_THROWS_WITH_AS(composed(dcgd{any_compressor<>(top_k{2})}, p), doctest::Contains("top_k(2) is biased"),
                         theory_error);
    CHECK_THROWS_WITH_AS(composed(dcgd{rand_k{2}}, problem{8, 5, 0, 0, 7, 6}), doctest::Contains("smoothness L"),
                         theory_error);
    CHECK_THROWS_WITH_AS(composed(dcgd{rand_k{2}}, problem{8, 5, 3, 0, 0, 6}), doctest::Contains("max L_i"),
                         theory_error);
    CHECK_THROWS_WITH_AS(composed(dcgd{rand_k{2}, {.step = 0.}}, p), doctest::Contains("step 0 is not above 0"),
                         argument_error);
    CHECK_THROWS_AS(composed(dcgd{rand_k{2}, {.step = -1.}}, p), argument_error);
    CHECK_THROWS_AS(composed(dcgd{rand_k{2}, {.step = std::nan("")}}, p), argument_error);
    CHECK_THROWS_AS(composed(dcgd{rand_k{2}, {.step = step_size{1, true}}}, problem{}), theory_error);
    auto const f = around({{3, 4}, {-1, -7}});
    CHECK_THROWS_WITH_AS(history(composed(dcgd{rand_k{3}}, f), f, vec{1, 1}, 1),
                         "dcgd: k = 3 is above the dimension d = 2", argument_error);
}

TEST_CASE("its text has its arguments") {
    CHECK(to_string(dcgd{rand_k{.1}}) == "dcgd(rand_k(0.1))");
    CHECK(to_string(dcgd{rand_k{2} | natural{}, {.step = step_size{.5, true}}}) ==
          "dcgd(rand_k(2) | natural, step=0.5/L)");
    CHECK(dcgd{rand_k{2}} == dcgd{rand_k{2}});
    CHECK_FALSE(dcgd{rand_k{2}} == dcgd{rand_k{3}});
}

TEST_CASE("one worker's contractive compressor needs a delta that is known") {
    auto const p = constants(random_ridges(1, 12, 1, 4));
    auto const step_of = [&](auto const& method) { return method.template compose<double, host>(p).step.rate; };
    CHECK(step_of(dcgd{top_k{3}}) == 1 / p.smoothness);
    CHECK(step_of(dcgd{any_compressor<>(top_k{3} | natural{})}) == 1 / p.smoothness);
    // Of nine values one level has omega = 2, and the pipe no delta.
    CHECK_THROWS_AS(step_of(dcgd{top_k{9} | quantize{1}}), theory_error);
    CHECK_THROWS_AS(step_of(dcgd{any_compressor<>(top_k{9} | quantize{1})}), theory_error);
    CHECK(step_of(dcgd{top_k{9} | quantize{1}, {.step = .1}}) == .1);
}
