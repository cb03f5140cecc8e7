// SPDX-License-Identifier: Apache-2.0
// DIANA converges linearly at the rate of its theorem, for every unbiased compressor, on data with a known optimum.
#include "laconic/method/diana.hpp"

#include <Eigen/Eigenvalues>

#include "laconic/any/compressor.hpp"
#include "laconic/collective/agreed_problem.hpp"
#include "laconic/compress/natural.hpp"
#include "laconic/compress/quantize.hpp"
#include "laconic/compress/rand_k.hpp"
#include "laconic/compress/top_k.hpp"
#include "laconic/method/dcgd.hpp"
#include "laconic/method/gd.hpp"
#include "laconic/objective/logistic_regression.hpp"
#include "support/real_data.hpp"
#include "support/sums.hpp"
#include "support/test.hpp"

using namespace laconic;

namespace tests_of_diana {

using namespace toys;

namespace {

workers pulling_apart(int n, std::size_t d) {
    std::vector<vec> centres;
    for (int i = 0; i < n; ++i) centres.emplace_back(d, n == 1 ? 0 : i % 2 == 0 ? 1.0 : -1.0);
    return around(centres);
}

// For f_i = |x - b_i|^2 / 2, sum b_i = 0, a round maps (E|x|^2, E mean |h_i - h_i*|^2, E<x, mean (h_i - h_i*)>)
// linearly. The matrix, from what the library does at three states.
Eigen::Matrix3d round_matrix(int n, std::size_t d, double alpha, double step) {
    auto const f = pulling_apart(n, d);
    known_optimum const best(f);
    Eigen::Matrix3d from, to;
    for (Eigen::Index s = 0; s < 3; ++s) {
        vec x(d);
        for (std::size_t j = 0; j < d; ++j) x[j] = s == 2 ? 0 : key{5}.child(std::uint64_t(s)).uniform(j);
        std::vector<vec> known = best.gradients;
        double apart = 0, cross = 0;
        for (std::size_t i = 0; i < known.size(); ++i)
            for (std::size_t j = 0; j < d; ++j) {
                double const off = s == 0 ? 0 : key{6}.child(i).uniform(j) - .3;
                known[i][j] += off;
                apart += off * off / n;
                cross += off * x[j] / n;
            }
        expected_round const next(rand_k{1}, alpha, step, f, x, known, best);
        from.col(s) << norm2(x), apart, cross;
        to.col(s) << next.x, next.h, next.cross;
    }
    return to * from.inverse();
}

// |M^k|^(1/k) for k = 2^50. (Eigen's solver would take longer to compile than all the rest of this file.)
double spectral_radius(Eigen::Matrix3d m) {
    double log_radius = 0;
    for (int squarings = 0; squarings <= 50; ++squarings) {
        double const size = m.norm();
        log_radius += std::ldexp(std::log(size), -squarings);
        m /= size;
        m = (m * m).eval();
    }
    return std::exp(log_radius);
}

// (x + a)^2 + 10 (y - x^2)^2 + 16 y for a = 16, with -16 y for a = -18.
struct rosenbrock {
    double a;
    std::size_t dimension() const { return 2; }
    double value(std::span<double const> at) const {
        return square(at[0] + a) + 10 * square(at[1] - at[0] * at[0]) + (a > 0 ? 16 : -16) * at[1];
    }
    void gradient(std::span<double const> at, std::span<double> g) const {
        double const off = at[1] - at[0] * at[0];
        g[0] = 2 * (at[0] + a) - 40 * at[0] * off;
        g[1] = 20 * off + (a > 0 ? 16 : -16);
    }
};

double random_number(std::uint64_t seed, std::uint64_t n) { return 2 * key{seed}.uniform(n) - 1; }

logistic_regression<> one_row(double sign, double lambda) {
    dataset<> data;
    data.name = "one row";
    data.rows.resize(1, 8);
    for (int j = 0; j < 8; ++j) data.rows.insert(0, j) = sign * (j + 1) / 8.;
    data.labels = {1};
    return {std::move(data), lambda};
}

}  // namespace

TEST_CASE("the exact recursion of the expectations, to all printed digits") {
    struct line {
        double alpha, step, x1, x2, x10, x50, x100, h10, factor;
    };
    for (auto const& known :
         {line{.1, .05, 9.1375, 8.3460859375, 4.00624921636, .113850046587, .00199722541618, 7.6219765535, .9234085737},
          line{.05, .05, 9.1375, 8.3473515625, 4.02344667122, .125848252177, .00413116349698, 6.15850699539,
               .9339833053},
          line{.1, .1, 8.55, 7.322625, 2.35902052456, .084068650488, .00189271103547, 6.67446590137, .9267949344}}) {
        CAPTURE(known.alpha);
        CAPTURE(known.step);
        auto const m = round_matrix(4, 10, known.alpha, known.step);
        Eigen::Vector3d state(10, 10, 0);
        std::vector<Eigen::Vector3d> after{state};
        for (int k = 0; k < 100; ++k) after.push_back(m * after.back());
        CHECK(after[1][0] == doctest::Approx(known.x1).epsilon(1e-10));
        CHECK(after[2][0] == doctest::Approx(known.x2).epsilon(1e-10));
        CHECK(after[10][0] == doctest::Approx(known.x10).epsilon(1e-10));
        CHECK(after[50][0] == doctest::Approx(known.x50).epsilon(1e-10));
        CHECK(after[100][0] == doctest::Approx(known.x100).epsilon(1e-10));
        CHECK(after[10][1] == doctest::Approx(known.h10).epsilon(1e-10));
        CHECK(spectral_radius(m) == doctest::Approx(known.factor).epsilon(1e-9));
    }
}

TEST_CASE("asymptotic factors for other numbers of workers and coordinates, all below the theorem's") {
    struct line {
        int n;
        std::size_t d;
        double factor;
    };
    for (auto const& known : {line{1, 2, .74700095}, line{2, 2, .65230265}, line{2, 4, .83928204},
                              line{10, 10, .91471917}, line{10, 100, .99143985}}) {
        double const omega = double(known.d) - 1, alpha = 1 / (1 + omega);
        double const step = std::min(alpha / 2, 1 / (1 + 6 * omega / known.n));
        double const factor = spectral_radius(round_matrix(known.n, known.d, alpha, step));
        CHECK(factor == doctest::Approx(known.factor).epsilon(1e-7));
        CHECK(factor < 1 - step);
    }
}

TEST_CASE("all pairs of sets that two workers can draw from their own keys average to the exact expectation") {
    auto const f = pulling_apart(2, 4);
    auto const recursion = diana{rand_k{1}, {.step = .2, .memory = .25}}.compose<double, host>(constants(f));
    std::set<std::pair<coordinate, coordinate>> seen;
    double x = 0, h = 0;
    for (std::uint64_t seed = 0; seen.size() < 16; ++seed) {
        lockstep run(recursion, f, vec(4, 1.0), seed);
        run.round();
        if (!seen.emplace(run.message_of_rank(0).support[0], run.message_of_rank(1).support[0]).second) continue;
        x += norm2(run.x()) / 16;
        for (std::size_t i = 0; i < 2; ++i) h += distance2(run.known(i), vec(4, i == 0 ? -1.0 : 1.0)) / 32;
    }
    // (1-g)^2 X + g^2 (w/n) S and (1-a)^2 U + a^2 X + a^2 w S with X = U = 4, S = 8, w = 3.
    CHECK(x == doctest::Approx(.64 * 4 + .04 * 1.5 * 8).epsilon(1e-14));
    CHECK(h == doctest::Approx(.5625 * 4 + .0625 * 4 + .0625 * 3 * 8).epsilon(1e-14));
}

TEST_CASE("many runs agree with the table" * doctest::test_suite("slow")) {
    struct line {
        double alpha, step, x10, x50, x100, h10;
    };
    auto const f = pulling_apart(4, 10);
    for (auto const& known : {line{.1, .05, 4.00624921636, .113850046587, .00199722541618, 7.6219765535},
                              line{.05, .05, 4.02344667122, .125848252177, .00413116349698, 6.15850699539},
                              line{.1, .1, 2.35902052456, .084068650488, .00189271103547, 6.67446590137}}) {
        CAPTURE(known.alpha);
        CAPTURE(known.step);
        auto const recursion = composed(diana{rand_k{1}, {.step = known.step, .memory = known.alpha}}, f);
        vec x10, x50, x100, h10;
        for (std::uint64_t seed = 0; seed < 2000; ++seed) {
            lockstep run(recursion, f, vec(10, 1.0), seed);
            run.rounds(10);
            x10.push_back(norm2(run.x()));
            double h = 0;
            for (std::size_t i = 0; i < 4; ++i) h += distance2(run.known(i), vec(10, i % 2 == 0 ? -1.0 : 1.0)) / 4;
            h10.push_back(h);
            run.rounds(40);
            x50.push_back(norm2(run.x()));
            run.rounds(50);
            x100.push_back(norm2(run.x()));
        }
        auto const agrees = [](vec const& samples, double expected) {
            estimate const e(samples.size(), [&](std::size_t r) { return samples[r]; });
            CAPTURE(expected);
            CHECK(std::abs(e.mean - expected) < 5 * e.error);
            CHECK(e.error < .15 * expected);
        };
        agrees(x10, known.x10);
        agrees(x50, known.x50);
        agrees(x100, known.x100);
        agrees(h10, known.h10);
    }
}

TEST_CASE("one-thread runs are runs of the real loop, bit for bit, memories included") {
    auto const f = random_ridges(3, 6, 1, 3);
    for (std::uint64_t seed = 0; seed < 3; ++seed) {
        auto const recursion = composed(diana{rand_k{2} | natural{}}, f);
        auto const real = history(recursion, f, vec(6, 1.0), 30, seed);
        lockstep run(recursion, f, vec(6, 1.0), seed);
        for (std::size_t k = 1; k <= 30; ++k) {
            run.round();
            for (std::size_t i = 0; i < 3; ++i) {
                REQUIRE(real[k].x[i] == run.x());
                REQUIRE(real[k].known[i] == copied(run.known(i)));
                REQUIRE(real[k].mean_shift[i] == copied(run.mean_shift()));
            }
        }
    }
}

TEST_CASE("the l1 prox reaches the soft-thresholded mean") {
    auto const f = around({{3, -1, .2, 0}, {1, -2, .2, 4}, {-1, -3, -.1, -4}});
    auto const recursion = composed(diana{rand_k{1}, {.step = .125, .memory = .125}, l1{.5}}, f);
    auto const states = history(recursion, f, vec(4, 0.0), 600);
    CHECK(std::sqrt(distance2(states[600].x[0], vec{.5, -1.5, 0, 0})) < 4e-15);  // a few roundings of 1.5
    CHECK(states[600].x[2] == states[600].x[0]);
    CHECK(std::sqrt(distance2(states[50].x[0], vec{.5, -1.5, 0, 0})) > 1e-6);
}

TEST_CASE("the Lyapunov function of theorem 1 falls by 1 - step mu, in exact expectation over rand_k") {
    auto const f = random_ridges(5, 12, 1, 11);
    auto p = constants(f);
    p.strong_convexity = 1e300;
    for (auto const& each : f) p.strong_convexity = std::min(p.strong_convexity, each.strong_convexity());
    p.least_strong_convexity = p.strong_convexity;
    known_optimum const best(f);
    auto const recursion = composed(diana{rand_k{3}}, p);
    double const step = recursion.step.step.rate, alpha = recursion.feedback.rate(), omega = 3;
    double const weight = 4 * omega * (1 + omega) / 5 * step * step;
    double worst = 0;
    for (std::uint64_t s = 0; s < 8; ++s) {
        vec x = best.x;
        auto known = best.gradients;
        double apart = 0;
        for (std::size_t j = 0; j < 12; ++j) x[j] += std::pow(10, 3 * random_number(1, s)) * random_number(2 + s, j);
        for (std::size_t i = 0; i < 5; ++i)
            for (std::size_t j = 0; j < 12; ++j) {
                double const off = std::pow(10, 3 * random_number(3, s)) * random_number(4 + s, 12 * i + j);
                known[i][j] += off;
                apart += off * off / 5;
            }
        expected_round const next(rand_k{3}, alpha, step, f, x, known, best);
        worst = std::max(worst, (next.x + weight * next.h) / (distance2(x, best.x) + weight * apart));
    }
    CHECK(worst <= 1 - step * p.strong_convexity);
    CHECK(worst > .5);
}

TEST_CASE("the general form's, for the largest memory rate and its own step") {
    auto const f = random_ridges(5, 12, 1, 11);
    auto const p = constants(f);
    known_optimum const best(f);
    double const omega = 3, alpha = 1 / (1 + omega), l = p.largest_smoothness, mu = p.least_strong_convexity;
    auto const r = composed(diana{rand_k{3}, {.memory = alpha}}, p);
    double const step = std::min(alpha / (2 * mu), 2 / ((l + mu) * (1 + 6 * omega / 5)));
    CHECK(r.step.step.rate == doctest::Approx(step));
    double const weight = 4 * omega / (alpha * 5) * step * step;
    lockstep run(r, f, vec(12, 1.0), 2);
    double worst = 0;
    for (std::size_t const wait : {0u, 1u, 10u, 100u, 1000u}) {
        run.rounds(wait);
        std::vector<vec> known;
        double v = distance2(run.x(), best.x);
        for (std::size_t i = 0; i < 5; ++i) {
            known.push_back(copied(run.known(i)));
            v += weight * distance2(known[i], best.gradients[i]) / 5;
        }
        expected_round const next(rand_k{3}, alpha, step, f, run.x(), known, best);
        worst = std::max(worst, (next.x + weight * next.h) / v);
    }
    CHECK(worst <= 1 - step * mu);
    CHECK(worst > .5);
}

TEST_CASE(
    "real data: V falls by 1 - step mu in exact expectation along a run, for three memory rates, to the optimum") {
    auto const real = real_data(10);
    if (!real) return;
    auto const& f = real->f;
    auto const& p = real->p;
    auto const& best = real->best;
    rand_k const c{3};
    double const omega = c.omega(13), n = 10, l = p.largest_smoothness, mu = p.least_strong_convexity;
    for (double const share : {.25, .5, 1.}) {  // of the largest rate: the sharp form's twice, then the general form's
        CAPTURE(share);
        double const alpha = share / (1 + omega), spread = share < 1 ? omega / (n * (1 - share)) : 6 * omega / n;
        double const step = std::min((share < 1 ? alpha : alpha / 2) / mu, 2 / ((l + mu) * (1 + spread)));
        double const weight = step * step * (share < 1 ? spread / alpha : 4 * omega / (alpha * n));
        auto const r = composed(diana{c, {.memory = alpha}}, p);
        CHECK(r.step.step.rate == doctest::Approx(step));
        lockstep run(r, f, vec(13, 0.0), 2);
        std::vector<vec> known(10);
        auto const lyapunov = [&] {
            double v = distance2(run.x(), best.x);
            for (std::size_t i = 0; i < 10; ++i) {
                known[i] = copied(run.known(i));
                v += weight * distance2(known[i], best.gradients[i]) / n;
            }
            return v;
        };
        double worst = 0, first = lyapunov();
        for (std::size_t const wait : {0u, 1u, 10u, 100u, 1000u}) {
            run.rounds(wait);
            double const v = lyapunov();
            expected_round const next(c, alpha, step, certain(gradients(f, run.x())), run.x(), known, best);
            worst = std::max(worst, (next.x + weight * next.h) / v);
        }
        CHECK(worst <= 1 - step * mu);
        CHECK(worst > .5);
        CHECK(lyapunov() < 10 * std::pow(1 - step * mu, 1111) * first);  // Markov: but for a chance of 1 in 10
    }
}

TEST_CASE("real data: with one row a worker V comes down to the theorem's floor, in exact expectation") {
    auto const real = real_data(10);
    if (!real) return;
    auto const& f = real->f;
    auto const& p = real->p;
    auto const& best = real->best;
    rand_k const c{1};
    double const omega = 12, n = 10;
    auto const r = composed(diana{c, {.batch = 1}}, p);
    double const step = r.step.step.rate, alpha = r.feedback.rate();
    double const weight = 4 * omega / (alpha * n) * step * step;
    double const noise = (2 + 10 * omega) * step * step * variance_of_choices(row_gradients(f, best.x)) / n;
    lockstep run(r, f, vec(13, 0.0), 2);
    double worst = 0;
    for (std::size_t const wait : {0u, 1u, 30u, 1000u}) {
        run.rounds(wait);
        std::vector<vec> known;
        double v = distance2(run.x(), best.x);
        for (std::size_t i = 0; i < 10; ++i) {
            known.push_back(copied(run.known(i)));
            v += weight * distance2(known[i], best.gradients[i]) / n;
        }
        expected_round const next(c, alpha, step, row_gradients(f, run.x()), run.x(), known, best);
        worst = std::max(worst, (next.x + weight * next.h) / ((1 - step * p.strong_convexity) * v + noise));
    }
    CHECK(worst <= 1);
    CHECK(worst > .7);
}

// Rosenbrock's function, (x - 1)^2 + 10 (y - x^2)^2 + 289, as the mean of two whose gradients at (1, 1) are (34, 16)
// and its negative: not convex, so no theorem, but what differences are for.
TEST_CASE(
    "Rosenbrock's function in two halves that disagree: rounded gradients leave its minimum, differences do not") {
    std::vector const halves{rosenbrock{16}, rosenbrock{-18}};
    auto const there = gradients(halves, vec{1, 1});
    CHECK(there == std::vector<vec>{{34, 16}, {-34, -16}});
    CHECK(mean_value(halves, vec{1, 1}) == 289);
    CHECK(mean_value(halves, vec{1.3, -.7}) == doctest::Approx(.09 + 10 * square(2.39) + 289));
    quantize const c{};
    problem const p{2, 2};
    lockstep differences(composed(diana{c, {.step = .003, .memory = .25}}, p), halves, vec{.9, .8}, 1);
    lockstep rounded(composed(dcgd{c, {.step = .003}}, p), halves, vec{1, 1}, 1);
    differences.rounds(20000);
    CHECK(distance2(differences.x(), vec{1, 1}) < 1e-20);
    CHECK(distance2(differences.known(0), there[0]) < 1e-16);
    double away = 0;
    for (int k = 0; k < 1000; ++k) {
        rounded.round();
        away += distance2(rounded.x(), vec{1, 1}) / 1000;
    }
    CHECK(away > 1e-3);
}

TEST_CASE("the same for Quant_p by sampling, and long runs learn the optimum and every gradient there") {
    auto const f = random_ridges(5, 12, 1, 11);
    auto p = constants(f);
    p.strong_convexity = 1e300;
    for (auto const& each : f) p.strong_convexity = std::min(p.strong_convexity, each.strong_convexity());
    p.least_strong_convexity = p.strong_convexity;
    known_optimum const best(f);
    for (p_norm const which : {p_norm::one, p_norm::two, p_norm::largest}) {
        CAPTURE(int(which));
        quantize const c{1, 0, which};
        auto const recursion = composed(diana{c}, p);
        double const omega = c.omega(12), step = recursion.step.step.rate, alpha = recursion.feedback.rate();
        CHECK(omega == doctest::Approx(which == p_norm::one   ? 11
                                       : which == p_norm::two ? std::sqrt(12.) - 1
                                                              : (std::sqrt(12.) - 1) / 2));
        double const weight = 4 * omega * (1 + omega) / 5 * step * step;
        double const rate = 1 - step * p.strong_convexity;

        host on;
        message_of<quantize> m;
        for (std::uint64_t s = 0; s < 4; ++s) {
            vec x = best.x;
            for (std::size_t j = 0; j < 12; ++j)
                x[j] += std::pow(10, 2 * random_number(1, s)) * random_number(2 + s, j);
            double v = distance2(x, best.x);
            std::vector<memory<double>> memories;
            std::vector<vec> delta;
            for (std::size_t i = 0; i < 5; ++i) {
                messages::full_vector<double, host> first_message;
                for (std::size_t j = 0; j < 12; ++j)
                    first_message.values.push_back((best.gradients[i][j] + random_number(4 + s, 12 * i + j)) / alpha);
                memories.emplace_back(alpha);
                memories[i].start(12);
                memories[i].update(on, std::span<double const>(first_message.values), first_message);
                v += weight * distance2(memories[i].shift(), best.gradients[i]) / 5;
                delta.emplace_back(12);
                f[i].gradient(x, delta[i]);
                memories[i].compensate(on, round_context{}, delta[i]);
            }
            estimate const next(1500, [&](std::size_t sample) {
                vec d(12), y = x;
                double after = 0;
                for (std::size_t i = 0; i < 5; ++i) {
                    auto mine = memories[i];
                    c(on, std::span<double const>(delta[i]), key{77}.child(sample).child(i), m);
                    for (std::size_t j = 0; j < 12; ++j) d[j] += mine.shift()[j] / 5;
                    add_message(on, std::span<double>(d), .2, m);
                    mine.update(on, std::span<double const>(delta[i]), m);
                    after += weight * distance2(mine.shift(), best.gradients[i]) / 5;
                }
                for (std::size_t j = 0; j < 12; ++j) y[j] -= step * d[j];
                return after + distance2(y, best.x);
            });
            CHECK(next.mean - 5 * next.error < rate * v);
            CHECK(next.error < .05 * v);
        }

        lockstep run(recursion, f, vec(12, 0.0), 3);
        auto const lyapunov = [&] {
            double v = distance2(run.x(), best.x);
            for (std::size_t i = 0; i < 5; ++i) v += weight * distance2(run.known(i), best.gradients[i]) / 5;
            return v;
        };
        double const first = lyapunov();
        auto const rounds = static_cast<std::size_t>(std::log(1e-18) / std::log(rate));
        CHECK(rounds < 100000);
        run.rounds(rounds);
        CHECK(lyapunov() < 1e-15 * first);
        for (std::size_t i = 0; i < 5; ++i)
            CHECK(distance2(run.known(i), best.gradients[i]) < 1e-12 * norm2(best.gradients[i]));

        lockstep without(composed(dcgd{c, {.step = step}}, p), f, vec(12, 0.0), 3);
        without.rounds(rounds / 2);
        double tail = 0;
        for (int k = 0; k < 2000; ++k) {
            without.round();
            tail += distance2(without.x(), best.x) / 2000;
        }
        CHECK(tail > 1e-4 * norm2(best.x));
    }
}

TEST_CASE("mirrored logistic losses: the theorem's steps, and the optimum to 1e-30") {
    std::vector<logistic_regression<>> const f{one_row(1, .1), one_row(-1, .1)};
    struct line {
        p_norm p;
        double step, tail;
    };
    for (auto const& known : {line{p_norm::two, .70932, 2.06}, line{p_norm::largest, 1.04809, .78}}) {
        quantize const c{1, 0, known.p};
        double step = 0;
        vec x(8, 1.0);
        threads::run(2, [&](threads::member& comm) {
            auto const& mine = f[static_cast<std::size_t>(comm.rank())];
            auto const p = agree_on_problem(comm, mine);
            vec y(8, 1.0);
            descend(diana{c}, p, mine, y, comm, {.rounds = 3000, .seed = 4});
            if (comm.rank() == 0) {
                step = composed(diana{c}, p).step.rate;
                x = y;
            }
        });
        CHECK(step == doctest::Approx(known.step).epsilon(1e-5));
        // Exact arithmetic gives 0. Ranks keep mean h_i by itself, so it drifts from the h_i by roundings, and x* with
        // it.
        CHECK(norm2(x) < 1e-27);

        lockstep exact(composed(diana{c, {.step = step}}, problem{8, 2, 0, .1, 0, 0}), f, vec(8, 1.0), 4);
        exact.rounds(3000);
        vec g(8), left(8);
        for (std::size_t i = 0; i < 2; ++i) {
            f[i].gradient(exact.x(), g);
            for (std::size_t j = 0; j < 8; ++j) left[j] += (g[j] - exact.known(i)[j] + exact.mean_shift()[j]) / 2;
        }
        CHECK(norm2(left) < 1e-30);

        auto const recursion = composed(dcgd{c, {.step = step}}, problem{});
        estimate const tail(30, [&](std::size_t seed) {
            lockstep run(recursion, f, vec(8, 1.0), seed);
            run.rounds(300);
            double sum = 0;
            for (int k = 0; k < 1000; ++k) {
                run.round();
                sum += norm2(run.x()) / 1000;
            }
            return sum;
        });
        CHECK(tail.mean == doctest::Approx(known.tail).epsilon(.05));
        CHECK(tail.error < .02 * known.tail);
    }
}

TEST_CASE("each arm of its steps where it binds, as a number") {
    struct {
        rates given;
        problem p;
        double step;
    } const cases[] = {
        // rand_k(1) of 4: omega 3, alpha 1/8 unless given. Theorem 1: min(alpha / mu, 2 / ((L + mu) (1 + 6 / n)))
        {{}, {4, 1000, 1, 1, 1, 1, 1}, .125},
        {{}, {4, 1, 1, .01, 1, 1, .01}, 2 / (1.01 * 7)},
        // alpha = 1/4, the largest: the general form's min(alpha / (2 mu), 2 / ((L + mu) (1 + 18 / n)))
        {{.memory = .25}, {4, 1000, 1, 1, 1, 1, 1}, .125},
        {{.memory = .25}, {4, 1, 1, .01, 1, 1, .01}, 2 / (1.01 * 19)},
        // alpha = 0.24: 2 / (1.01 (1 + 3 / 0.04)) by theorem 1, which has nothing against the general form
        {{.memory = .24}, {4, 1, 1, .01, 1, 1, .01}, 2 / (1.01 * 19)},
        // mu unknown: no arm of it
        {{}, {4, 1, 1, 0, 1, 1, 0}, 2 / 7.},
        // batches: min(alpha / (2 mu), 1 / (L + 18 max L_i / n + 32 max L_ij / (n b))), mu of f
        {{.batch = 1}, {4, 1000, 1, 1, 1, 1, .5, 9, 1}, .0625},
        {{.memory = .25, .batch = 1}, {4, 1000, 1, 1, 1, 1, .5, 9, 1}, .125},
        {{.batch = 2}, {4, 10, 1, .01, 2, 2, .01, 9, 5}, 1 / (1 + 3.6 + 8)},
        {{.batch = 2}, {4, 10, 1, 0, 2, 2, 0, 9, 5}, 1 / (1 + 3.6 + 8)}};
    for (auto const& c : cases)
        CHECK(diana{rand_k{1}, c.given}.compose<double, host>(c.p).step.step.rate ==
              doctest::Approx(c.step).epsilon(1e-12));
}

TEST_CASE("batches: down to the theorem's floor and no further, by the rate of the theorem" *
          doctest::test_suite("slow")) {
    auto const f = random_sums(4, 3, {{1, 2, 0, 0}, {-1, 0, 1, 2}, {0, 0, 3, -1}, {2, -2, 1, 1}}, .3, 2);
    auto const p = constants(f);
    known_optimum const best(wholes(f));
    auto const r = diana{rand_k{2}, {.batch = 1}}.compose<double, host>(p);
    double const step = r.step.step.rate, alpha = r.feedback.rate(), omega = 1, n = 4;
    CHECK(alpha == .25);
    CHECK(step ==
          doctest::Approx(1 / (p.smoothness + 6 * p.largest_smoothness / n + 12 * p.largest_sample_smoothness / n)));
    double const weight = 4 * omega / (alpha * n) * step * step, rate = 1 - step * p.strong_convexity;
    double const noise = 12 * step * step * variance_of_rows(f, best.x) / n, floor = noise / (1 - rate);
    std::size_t const rounds[] = {50, 500, 3000};
    vec sums(3), squares(3);
    double first = 0;
    for (std::uint64_t seed = 0; seed < 60; ++seed) {
        lockstep run(r, f, vec(4, 5.0), seed);
        auto const lyapunov = [&] {
            double v = distance2(run.x(), best.x);
            for (std::size_t i = 0; i < 4; ++i)
                v += weight *
                     (run.known(i).empty() ? norm2(best.gradients[i]) : distance2(run.known(i), best.gradients[i])) / n;
            return v;
        };
        first = lyapunov();
        std::size_t done = 0;
        for (std::size_t s = 0; s < 3; ++s) {
            run.rounds(rounds[s] - done);
            done = rounds[s];
            sums[s] += lyapunov() / 60;
            squares[s] += square(lyapunov()) / 60;
        }
    }
    for (std::size_t s = 0; s < 3; ++s) {
        double const bound = std::pow(rate, double(rounds[s])) * first + floor;
        CHECK(sums[s] - 5 * std::sqrt(squares[s] / 60) <= bound);
        CHECK(sums[s] > 1e-3 * floor);
    }
    problem unknown = p;
    unknown.largest_sample_smoothness = 0;
    CHECK_THROWS_WITH_AS((diana{rand_k{2}, {.batch = 1}}.compose<double, host>(unknown)),
                         doctest::Contains("diana: its theorem needs max L_ij"), theory_error);
}

TEST_CASE("all sent it is (proximal) gradient descent, without memory dcgd, and the mean shift is the shifts' mean") {
    auto const f = random_ridges(4, 5, 1, 8);
    auto const p = constants(f);
    auto const plain_descent = history(composed(gd{}, p), f, vec(5, 1.0), 60);
    auto const whole =
        history(composed(diana{identity{}, {.step = step_size{1, true}, .memory = 1}}, p), f, vec(5, 1.0), 60);
    for (std::size_t k = 0; k <= 60; ++k) CHECK(std::sqrt(distance2(plain_descent[k].x[0], whole[k].x[0])) < 1e-12);

    // With a prox it is the proximal gradient method.
    auto const with_l1 =
        history(composed(diana{identity{}, {.step = step_size{1, true}, .memory = 1}, l1{.5}}, p), f, vec(5, 1.0), 60);
    auto const whole_f = mean_of(f);
    double const step = 1 / p.smoothness;
    vec x(5, 1.0), g(5);
    for (std::size_t k = 0; k <= 60; ++k) {
        CHECK(std::sqrt(distance2(x, with_l1[k].x[0])) < 1e-12);
        whole_f.gradient(x, g);
        for (std::size_t j = 0; j < 5; ++j) {
            double const moved = x[j] - step * g[j];
            x[j] = std::copysign(std::max(std::abs(moved) - step * .5, 0.), moved);
        }
    }
    CHECK(std::sqrt(distance2(with_l1[60].x[0], whole[60].x[0])) > 1e-3);

    auto no_memory = composed(diana{rand_k{2}, {.step = .002}}, p);
    no_memory.feedback = {};
    auto const forgets = history(no_memory, f, vec(5, 1.0), 60);
    auto const never_knew = history(composed(dcgd{rand_k{2}, {.step = .002}}, p), f, vec(5, 1.0), 60);
    CHECK(forgets[60].x == never_knew[60].x);

    auto const states = history(composed(diana{rand_k{2}}, p), f, vec(5, 1.0), 200);
    for (std::size_t k : {1u, 10u, 200u}) {
        auto const mean = mean_of(states[k].known);
        for (auto const& kept : states[k].mean_shift) {
            CHECK(kept == states[k].mean_shift[0]);
            CHECK(std::sqrt(distance2(kept, mean)) < 1e-13 * (1 + std::sqrt(norm2(mean))));
        }
    }
}

TEST_CASE("the numbers of the theorem, by hand") {
    problem const p{8, 5, 3, .6, 7, 6, .5};        // the least mu_i counts
    auto const r = composed(diana{rand_k{2}}, p);  // omega = 3
    CHECK(r.feedback.rate() == doctest::Approx(1. / 8));
    CHECK(r.step.step.rate == doctest::Approx(2 / (7.5 * (1 + 6. / 5))));
    CHECK(r.step.rate == r.step.step.rate);
    CHECK_FALSE(r.feedback.keeps_residual());
    CHECK(r.scale == 1);
    problem const flat{8, 5, 3, 2.5, 7, 6, 2.5};  // the other arm: alpha / mu
    CHECK(composed(diana{rand_k{2}}, flat).step.step.rate == doctest::Approx(.125 / 2.5));
    problem const convex{8, 5, 3, .6, 7, 6, 0};
    CHECK(composed(diana{rand_k{2}}, convex).step.step.rate == doctest::Approx(2 / (7 * 2.2)));
    CHECK(composed(diana{natural{}}, p).feedback.rate() == doctest::Approx(4. / 9));
    // Other memory rates: the sharp form's 2 omega / n becomes omega / (n (1 - alpha (1 + omega))); beyond 5/6 of the
    // largest rate the general form is longer.
    CHECK(composed(diana{rand_k{2}, {.memory = .1}}, p).step.step.rate == doctest::Approx(2 / (7.5 * (1 + 1.))));
    CHECK(composed(diana{rand_k{2}, {.memory = .25}}, p).feedback.rate() == .25);
    CHECK(composed(diana{rand_k{2}, {.memory = .25}}, p).step.step.rate == doctest::Approx(2 / (7.5 * (1 + 18. / 5))));
}

TEST_CASE("wrong arguments are refused with the reason") {
    problem const p{8, 5, 3, .5, 7, 6};
    CHECK_THROWS_WITH_AS(composed(diana{rand_k{2}, {.memory = .26}}, p), doctest::Contains("outside (0, 0.25]"),
                         argument_error);
    CHECK_THROWS_AS(composed(diana{rand_k{2}, {.memory = 0.}}, p), argument_error);
    CHECK_THROWS_AS(composed(diana{rand_k{2}, {.memory = -.1}}, p), argument_error);
    CHECK_THROWS_AS(composed(diana{rand_k{2}, {.memory = std::nan("")}}, p), argument_error);
    CHECK_THROWS_AS(composed(diana{rand_k{2}, {.step = 0.}}, p), argument_error);
    CHECK_THROWS_WITH_AS(composed(diana{rand_k{2}}, problem{8, 5, 3, .5, 0, 6}), doctest::Contains("max L_i"),
                         theory_error);
    CHECK_THROWS_WITH_AS(composed(diana{any_compressor<>(top_k{2})}, p), doctest::Contains("top_k(2) is biased"),
                         theory_error);
    auto const f = around({{3, 4}, {-1, -7}});
    CHECK_THROWS_AS(history(composed(diana{rand_k{3}}, f), f, vec{1, 1}, 1), argument_error);
}

TEST_CASE("its text has its arguments") {
    CHECK(to_string(diana{rand_k{.1}}) == "diana(rand_k(0.1))");
    CHECK(to_string(diana{quantize{4}, {.step = .1, .memory = .5}}) == "diana(quantize(4), step=0.1, memory=0.5)");
}

// Why the theorem asks for the least mu_i: with the strong convexity of f in its place, its rate would be wrong.
TEST_CASE("where not every f_i is strongly convex no rate is promised, and V still does not grow") {
    // Ten workers; along the first axis only one of them is curved.
    workers f;
    std::vector<problem> agreed(10);
    for (int i = 0; i < 10; ++i) {
        Eigen::VectorXd diagonal = Eigen::VectorXd::Constant(101, .5);
        diagonal[0] = i == 0 ? 1 : 0;
        f.push_back({diagonal.asDiagonal().toDenseMatrix(), Eigen::VectorXd::Zero(101), 0});
    }
    threads::run(10, [&](threads::member& comm) {
        auto const me = static_cast<std::size_t>(comm.rank());
        agreed[me] = agree_on_problem(comm, f[me]);
    });
    auto const p = agreed[0];
    CHECK(p.strong_convexity == doctest::Approx(.05));           // (0.5 + 9 x 0) / 10
    CHECK(constants(f).strong_convexity >= p.strong_convexity);  // so f is that strongly convex
    auto const recursion = composed(diana{rand_k{1}}, p);
    double const step = recursion.step.step.rate, weight = 4. * 100 * 101 / 10 * step * step;
    vec x(101);
    x[0] = 1;
    expected_round const next(rand_k{1}, recursion.feedback.rate(), step, f, x, std::vector<vec>(10, vec(101)),
                              known_optimum(f));
    CHECK(p.least_strong_convexity == 0);
    CHECK(next.x + weight * next.h <= 1);
    CHECK(next.x + weight * next.h > 1 - step * p.strong_convexity);

    // What holds for convex f_i: step = min{ alpha / mu, 1 / (L + 2 omega max L_i / n) }.
    double const careful = std::min(recursion.feedback.rate() / .05, 1 / (constants(f).smoothness + 2 * 100 / 10.));
    double const its_weight = 4. * 100 * 101 / 10 * careful * careful;
    expected_round const sure(rand_k{1}, recursion.feedback.rate(), careful, f, x, std::vector<vec>(10, vec(101)),
                              known_optimum(f));
    CHECK(sure.x + its_weight * sure.h <= 1 - careful * .05);
}

}  // namespace tests_of_diana
