// SPDX-License-Identifier: Apache-2.0
// The tight theorem on EF and EF21: its numbers, that one round attains its factor and that runs keep to it; the
// theorem that ef21 and ef_sgd take, and runs with its step whose values another program knows.
#include "laconic/method/proved_step.hpp"

#include <numbers>

#include "support/everything.hpp"
#include "support/toys.hpp"

using namespace toys;

TEST_CASE("the tight theorem's steps and factors are known numbers") {
    struct {
        double kappa, delta, size, factor;
    } const known[] = {{10, .01, .00456832486547, .9990867518},    {10, .1, .0478800708904, .990469128062},
                       {10, .5, .31195068228, .939368196028},      {100, .01, .00497540331883, .999900496878},
                       {100, .1, .0521466118608, .998957604321},   {100, .5, .339748267829, .99322611304},
                       {1000, .01, .0050201372148, .999989959776}, {1000, .1, .0526154625169, .999894774539},
                       {1000, .5, .34280294756, .999314608943}};
    for (auto const& [kappa, delta, size, factor] : known) {
        auto const unit = proved_step::tight(1, 1 / kappa, delta), scaled = proved_step::tight(8, 8 / kappa, delta);
        CHECK(unit.size == doctest::Approx(size).epsilon(1e-11));
        CHECK(std::abs(unit.factor - factor) < 1e-12);
        CHECK(scaled.size == unit.size / 8);
        CHECK(scaled.factor == unit.factor);
    }
    auto const sphere = proved_step::tight(2, 2, .75), in_full = proved_step::tight(1, .1, 1);
    CHECK(sphere.size == doctest::Approx(1. / 6));
    CHECK(sphere.factor == doctest::Approx(.5));
    CHECK(in_full.size == doctest::Approx(2 / 1.1));  // gradient descent
    CHECK(in_full.factor == doctest::Approx(square(.9 / 1.1)));
    CHECK(proved_step::tight(1, 0, .1).factor == doctest::Approx(1));
}

// The largest V+ / V of a round, over all states of one rank whose f is curvature x^2 / 2 and whose compressor sends
// 1 - s of each number.
struct worst_round {
    double ef21 = 0, ef = 0;

    worst_round(double curvature, double step, double s) {
        for (int i = 0; i < 20000; ++i) {
            double const angle = std::numbers::pi * i / 20000, x = std::cos(angle), other = std::sin(angle);
            double const h = curvature * other, g = curvature * x, g_next = curvature * (x - step * h);
            ef21 = std::max(ef21, (s * square(g_next) + square(s * (g_next - h))) / (s * square(g) + square(g - h)));
            double const p = other + step * g;
            ef = std::max(ef, (square(s * p) / s + square(x - p)) / (square(other) / s + square(x - other)));
        }
    }
};

TEST_CASE("one round attains the tight factor, at both curvatures, and any other step is worse at one of them") {
    for (double const l : {1., 3.})
        for (double const mu : {.9, .1, .01})
            for (double const delta : {.05, .3, .9}) {
                CAPTURE(l);
                CAPTURE(mu);
                CAPTURE(delta);
                auto const t = proved_step::tight(l, mu, delta);
                double const s = std::sqrt(1 - delta);
                for (double const curvature : {mu, l}) {
                    worst_round const worst(curvature, t.size, s);
                    CHECK(worst.ef21 <= t.factor + 1e-12);
                    CHECK(worst.ef21 > t.factor - 1e-5 * (1 - t.factor));
                    CHECK(worst.ef <= t.factor + 1e-12);
                    CHECK(worst.ef > t.factor - 1e-5 * (1 - t.factor));
                }
                for (double const longer : {.98, 1.02}) {
                    worst_round const low(mu, longer * t.size, s), high(l, longer * t.size, s);
                    CHECK(std::max(low.ef21, high.ef21) > t.factor + 1e-3 * (1 - t.factor));
                    CHECK(std::max(low.ef, high.ef) > t.factor + 1e-3 * (1 - t.factor));
                }
            }
}

using loop = lockstep<common_recursion<>>;

// What the tight theorem bounds, of ef21 with shifts h_i after a round and x before it, and of ef_sgd with e_i and x
// before a round.
double v_of_ef21(loop const& run, workers const& f, vec const& x, double s) {
    auto const g = gradients(f, x);
    auto const n = static_cast<double>(f.size());
    double v = s * n * norm2(mean_of(g));
    for (std::size_t i = 0; i < f.size(); ++i) v += distance2(g[i], run.known(i));
    return v;
}
double v_of_ef(loop const& run, std::size_t n, vec const& optimum, double s) {
    double v = 0;
    vec sum(optimum.size());
    for (std::size_t i = 0; i < n; ++i) {
        vec const e = copied(run.residual(i));
        for (std::size_t c = 0; c < sum.size(); ++c) {
            double const mine = e.empty() ? 0 : e[c];  // before the first round
            sum[c] += mine;
            v += square(run.x()[c] - optimum[c] - mine);
        }
    }
    return v + norm2(sum) / (static_cast<double>(n) * s);
}

// The largest V+ / V of these rounds, down to what is rounded.
double largest_factor(auto v, std::size_t rounds) {
    double const first = v();
    double worst = 0, last = first;
    for (std::size_t k = 0; k < rounds && last > 1e-18 * first; ++k) {
        double const now = v();
        worst = std::max(worst, now / last);
        last = now;
    }
    return worst;
}
double largest_factor_of_ef21(workers const& f, problem const& p, top_k<> c, vec const& start, std::size_t rounds) {
    auto const s = std::sqrt(1 - c.delta(p.dimension));
    loop run(composed(ef21{c}, p), f, start, 1);
    return largest_factor(
        [&] {
            auto const x = run.x();
            run.round();
            return v_of_ef21(run, f, x, s);
        },
        rounds);
}
double largest_factor_of_ef(workers const& f, problem const& p, top_k<> c, vec const& start, std::size_t rounds) {
    auto const s = std::sqrt(1 - c.delta(p.dimension));
    known_optimum const best(f);
    loop run(composed(ef_sgd{c}, p), f, start, 1);
    bool begun = false;
    return largest_factor(
        [&] {
            if (begun) run.round();
            begun = true;
            return v_of_ef(run, f.size(), best.x, s);
        },
        rounds);
}

// The constants as the ranks know them of their own f_i.
problem agreed(workers const& f) {
    problem p = constants(f);
    p.smoothness = p.strong_convexity = 0;
    for (auto const& each : f) {
        p.smoothness += each.smoothness() / double(f.size());
        p.strong_convexity += each.strong_convexity() / double(f.size());
    }
    return p;
}

TEST_CASE("V falls by the tight factor or more in every round of ef21 and ef_sgd, on random ridge regressions") {
    double nearest = 0;
    for (std::uint64_t seed = 1; seed <= 12; ++seed)
        for (int const n : {1, 4})
            for (std::size_t const k : {1u, 3u}) {
                CAPTURE(seed);
                CAPTURE(n);
                CAPTURE(k);
                auto f = random_ridges(n, 6, seed % 2 ? 1 : .1, seed);
                auto p = agreed(f);
                top_k<> const c{k};
                auto const t = proved_step::tight(p.largest_smoothness, p.least_strong_convexity, c.delta(6));
                REQUIRE(composed(ef21{c}, p).step.rate == t.size);
                double const of_ef21 = largest_factor_of_ef21(f, p, c, vec(6, 1.), 300);
                CHECK(of_ef21 <= t.factor + 1e-12);
                for (auto& each : f) each.b = each.h * Eigen::VectorXd::Constant(6, -2.);  // all have one optimum
                p.shared_optimum = true;
                REQUIRE(composed(ef_sgd{c}, p).scale == t.size);
                double const of_ef = largest_factor_of_ef(f, p, c, vec(6, 1.), 300);
                CHECK(of_ef <= t.factor + 1e-12);
                nearest = std::max({nearest, (1 - t.factor) / (1 - of_ef21), (1 - t.factor) / (1 - of_ef)});
            }
    CHECK(nearest > .5);
}

// f_i(x) = sum_j a_ij (x_j - b_ij)^2 / 2, i < 4, j < 8, all numbers exact in binary; with the same b_i or not.
workers bowls(bool one_optimum) {
    workers f;
    for (int i = 0; i < 4; ++i) {
        Eigen::VectorXd a(8), b(8);
        for (int j = 0; j < 8; ++j) {
            a[j] = (2 + (i + 2 * j) % 5) / 4.;
            b[j] = one_optimum ? ((5 * j) % 7 - 3) / 2. + (j + 1) / 32.
                               : ((3 * i + 5 * j + i * j) % 11 - 5) / 2. + (i + 1) * (j + 1) / 64.;
        }
        f.push_back({a.asDiagonal().toDenseMatrix(), a.cwiseProduct(b), 0});
    }
    return f;
}
problem const of_bowls{8, 4, 1.5, .5, 1.5, 1.5, .5};

problem with_one_optimum(problem p) {
    p.shared_optimum = true;
    return p;
}

TEST_CASE("ef21 and ef_sgd on bowls: runs with both steps as another program has them") {
    threads::run(4, [](threads::member& comm) {
        auto p = agree_on_problem(comm, bowls(false)[std::size_t(comm.rank())]);
        p.own_smoothness = 0;
        CHECK(p == of_bowls);
    });
    auto const apart = bowls(false), together = bowls(true);
    double const tight = .0717967697245, loose = 1 / (1.5 + 1.5 * std::sqrt(2 * .75) / (1 - std::sqrt(.75)));
    struct {
        common_recursion<> method;
        workers const& f;
        double step;
        vec known;  // x_0, x_7, |x|^2 after rounds 1, 10 and 100
    } const all[] = {{composed(ef21{top_k{2}}, of_bowls),
                      apart,
                      tight,
                      {1, .929885967066, 7.62388097787, .68844996155, .287991815332, 3.76603996959, .330967744196,
                       -.407320184536, 2.57840524555}},
                     {composed(ef21{top_k{2}, {.step = loose}}, of_bowls),
                      apart,
                      loose,
                      {1, .935804964534, 7.65437762122, .711000859115, .335043861686, 3.95075657295, .331520360685,
                       -.40641121373, 2.57795459025}},
                     {composed(ef_sgd{top_k{2}}, with_one_optimum(of_bowls)),
                      together,
                      tight,
                      {.867063793557, .939421475545, 7.35435569369, -.0924824446092, -.132821545057, 4.04791156519,
                       -1.46556248881, -1.24838703753, 8.90421164596}},
                     {composed(ef_sgd{top_k{2}}, of_bowls),
                      together,
                      .013746434,
                      {.974547616481, .988401445485, 7.86952849207, .751562688837, .72952549859, 6.29971864417,
                       -.737921550652, -.637728327868, 5.25699310503}},
                     {composed(ef_sgd{top_k{2}, {.step = proved_step::tight(1.5, .5, .25).size}}, of_bowls),
                      apart,
                      tight,
                      {1, .929885967066, 7.62388097787, .681177316528, .351437139157, 3.91923965309, .310062632883,
                       -.423791601312, 2.67123948892}},
                     {composed(ef_sgd{top_k{2}}, of_bowls),
                      apart,
                      .013746434,
                      {1, .986575747089, 7.92547317604, .944395388889, .824698937082, 6.77758751439, .529552118078,
                       -.00545745185725, 2.78832379306}}};
    for (auto const& [method, f, step, known] : all) {
        CHECK(method.scale * method.step.rate == doctest::Approx(step).epsilon(1e-7));
        loop run(method, f, vec(8, 1.), 1);
        std::size_t at = 0;
        for (std::size_t const rounds : {1u, 9u, 90u}) {
            run.rounds(rounds);
            for (double const value : {run.x()[0], run.x()[7], norm2(run.x())})
                CHECK(value == doctest::Approx(known[at++]).epsilon(2e-11));
        }
    }
}

TEST_CASE("top-k alone on one bowl, at the longest step of one rank, comes to known answers") {
    problem const one{8, 1, 1.5, .5, 1.5, 1.5, .5};
    double const step = 2 / ((1 + std::sqrt(.75)) * (1.5 + .5));
    workers const first{bowls(true)[0]};
    loop run(composed(dcgd{top_k{2}, {.step = step}}, one), first, vec(8, 1.), 1);
    vec const known{1,
                    -.80865704891,
                    6.71463568209,
                    -1.08880174228,
                    -1.1634295109,
                    7.62555423621,
                    -1.46874969515,
                    -1.24999996279,
                    8.91796697217};
    std::size_t at = 0;
    for (std::size_t const rounds : {1u, 9u, 90u}) {
        run.rounds(rounds);
        for (double const value : {run.x()[0], run.x()[7], norm2(run.x())})
            CHECK(value == doctest::Approx(known[at++]).epsilon(2e-11));
    }
}

TEST_CASE("ef21 on bowls: V is known, and falls by more than its bound") {
    auto const f = bowls(false);
    double const s = std::sqrt(.75);
    loop run(composed(ef21{top_k{2}}, of_bowls), f, vec(8, 1.), 1);
    std::vector<double> v;
    for (int k = 0; k < 11; ++k) {
        auto const x = run.x();
        run.round();
        v.push_back(v_of_ef21(run, f, x, s));
    }
    CHECK(v[0] == doctest::Approx(51.109249528).epsilon(1e-11));
    CHECK(v[1] == doctest::Approx(29.9282885141).epsilon(1e-11));
    CHECK(v[10] == doctest::Approx(4.61619457356).epsilon(1e-11));
    CHECK(largest_factor_of_ef21(f, of_bowls, {2}, vec(8, 1.), 300) == doctest::Approx(.877).epsilon(1e-3));
    CHECK(ef21{top_k{2}}.proved(of_bowls).factor == doctest::Approx(.930648).epsilon(1e-6));
}

TEST_CASE("ef21 takes the theorem that promises more, and says which") {
    auto const takes = [](problem const& p, std::string_view part) {
        auto const proved = ef21{top_k{2}}.proved(p);
        CAPTURE(proved.theorem);
        CHECK(proved.theorem.find(part) != std::string_view::npos);
        CHECK(composed(ef21{top_k{2}}, p).step.rate == proved.size);
        return proved;
    };
    double const theta = 1 - std::sqrt(.75), ratio = std::sqrt(2 * .75) / theta;
    takes(of_bowls, "2605.31594");
    for (double const kappa : {1., 1.41, 2.5, 100.}) takes({8, 4, kappa, 1, kappa, kappa, 1}, "2605.31594");
    // Theorem 2's step may be longer, yet its rate is worse.
    CHECK(ef21{top_k{2}}.proved({8, 4, 1.41, 1, 1.41, 1.41, 1}).size < .9 / (1.41 + 1.41 * ratio));
    for (double kappa = 1.01; kappa < 20; kappa *= 1.03)
        for (double const delta : {.01, .1, .25, .5, .9}) {
            double const kept = std::sqrt(1 - delta);
            double const of_2 = std::min(1 / (kappa + kappa * std::sqrt(2.) * kept / (1 - kept)), (1 - kept) / 2);
            auto const of_tight = proved_step::tight(kappa, 1, delta);
            CHECK(of_tight.factor < 1 - of_2);
            CHECK(of_2 < 1.211 * of_tight.size);
            if (kappa > 2.415) CHECK(of_2 < of_tight.size);
        }
    // f is better conditioned than the f_i, or some of these are not known to be strongly convex
    for (double const least : {.01, 0., -1.}) {
        auto const proved = takes({8, 4, 1, .5, 1.5, 1.5, least}, "theorem 2");
        CHECK(proved.size == doctest::Approx(1 / (1 + 1.5 * ratio)));
        CHECK(proved.factor == doctest::Approx(1 - .5 / (1 + 1.5 * ratio)));
    }
    for (double const mu : {0., -.5}) {
        auto const proved = takes({8, 4, 1, mu, 1.5, 1.5, mu}, "theorem 1");
        CHECK(proved.size == doctest::Approx(1 / (1 + 1.5 * std::sqrt(.75) / theta)));
        CHECK(proved.factor == 1);
    }
    CHECK_THROWS_AS(ef21{top_k{2}}.proved({8, 4}), theory_error);
    CHECK_THROWS_AS((ef21{top_k{2}, {.batch = 2}}.proved(of_bowls)), theory_error);
}

TEST_CASE("ef21 takes the means of L_i and mu_i by name only") {
    problem const unlike{8, 2, 2.5, .1, 4, std::sqrt(8.5), .1};  // L_i 1 and 4
    ef21 const by_means{top_k{4}, {}, true};
    CHECK(to_string(by_means) == "ef21(top_k(4), means=yes)");
    CHECK(composed(by_means, unlike).step.rate == doctest::Approx(.13197913481062).epsilon(1e-12));
    CHECK(composed(ef21{top_k{4}}, unlike).step.rate == proved_step::tight(4, .1, .5).size);
    CHECK(composed(ef21{top_k{4}, {.step = .25}, true}, unlike).step.rate == .25);
    CHECK_THROWS_WITH_AS(composed(by_means, problem{8, 2, 2.5, 0, 4, 3}), doctest::Contains("mu, the strong convexity"),
                         theory_error);
    CHECK_THROWS_AS(composed(ef21{top_k{4}, {.batch = 2}, true}, unlike), theory_error);
}

// The law's rate for two ranks: the largest root in [0, 1] of a polynomial of the third degree.
double rate_of_two(double l1, double l2, double mu, double delta) {
    double const s = std::sqrt(1 - delta), r = square(1 - s) / (1 + s);
    double const s1 = l1 + mu, s2 = l2 + mu, d1 = l1 - mu, d2 = l2 - mu;
    double const k1 = (d2 * d2 * s1 + d1 * d1 * s2) / (s1 * s2 * (s1 + s2)), k2 = square((d1 + d2) / (s1 + s2));
    auto const p = [&](double z) {
        return z * z * z - (s * (2 + s) + r * (s * k1 + k2)) * z * z + s * s * (1 + 2 * s + r * (k1 + s * k2)) * z -
               std::pow(s, 4);
    };
    double low = 1, high = 1;
    while (p(low) > 0) low -= 1e-4;
    high = low + 1e-4;
    for (int i = 0; i < 60; ++i) (p((low + high) / 2) > 0 ? high : low) = (low + high) / 2;
    return high;
}

TEST_CASE("the law's rate for two equal ranks is the tight factor") {
    for (double const mu : {.9, .1, .01})
        for (double const delta : {.05, .3, .9})
            CHECK(rate_of_two(1, 1, mu, delta) ==
                  doctest::Approx(proved_step::tight(1, mu, delta).factor).epsilon(1e-10));
    CHECK(rate_of_two(1, 4, .1, .5) == doctest::Approx(.97404597337906).epsilon(1e-12));
}

TEST_CASE("with the step of means a round of two unlike ranks attains the law's known rate, and no more") {
    double const step = composed(ef21{top_k{4}, {}, true}, problem{8, 2, 2.5, .1, 4, std::sqrt(8.5), .1}).step.rate;
    double const smoothness[] = {1, 4}, mu = .1, s = std::sqrt(.5), rate = rate_of_two(1, 4, .1, .5);
    double const weights[] = {5.2 / 2 / (smoothness[0] + mu), 5.2 / 2 / (smoothness[1] + mu)};
    // f_i = a_i x^2 / 2 and messages that leave s of each number, with either sign, of all states x, h_1, h_2.
    double worst = 0;
    auto const v = [&](vec const& g, vec const& h) {
        return s / 2 * square(g[0] + g[1]) + weights[0] * square(g[0] - h[0]) + weights[1] * square(g[1] - h[1]);
    };
    int const turn = 300;
    for (unsigned which = 0; which < 16; ++which) {
        auto const at = [&](unsigned bit, double low, double high) { return (which >> bit & 1) != 0 ? high : low; };
        double const a[] = {at(0, mu, smoothness[0]), at(1, mu, smoothness[1])}, left[] = {at(2, s, -s), at(3, s, -s)};
        for (int i = 0; i < turn; ++i)
            for (int j = 0; j < turn; ++j) {
                double const up = std::numbers::pi * i / turn, round = std::numbers::pi * j / turn;
                double const x = std::cos(up), h[] = {std::sin(up) * std::cos(round), std::sin(up) * std::sin(round)};
                double const x_next = x - step * (h[0] + h[1]) / 2;
                vec g, g_next, h_now{h[0], h[1]}, h_next;
                for (std::size_t k : {0u, 1u}) {
                    g.push_back(a[k] * x), g_next.push_back(a[k] * x_next);
                    h_next.push_back(g_next[k] - left[k] * (g_next[k] - h[k]));
                }
                if (double const before = v(g, h_now); before > 1e-9)
                    worst = std::max(worst, v(g_next, h_next) / before);
            }
    }
    CHECK(worst <= rate + 1e-12);
    CHECK(worst > rate - 3e-3 * (1 - rate));
}

TEST_CASE("ef_sgd takes the tight step on one rank, and where all f_i have one optimum") {
    auto const step = [](auto const& method, problem const& p) { return composed(method, p).scale; };
    double const tight = proved_step::tight(1.5, .5, .25).size;
    problem alone = of_bowls, flat = with_one_optimum(of_bowls);
    alone.workers = 1;
    flat.least_strong_convexity = 0;
    for (auto const& p : {alone, with_one_optimum(of_bowls)}) {
        CHECK(step(ef_sgd{top_k{2}}, p) == tight);
        CHECK(step(top_k_sgd{portion{2}}, p) == tight);
        CHECK(step(ef_sgd{top_k{2}, {.step = .5}}, p) == .5);
    }
    for (auto const& p : {of_bowls, flat})
        CHECK(step(ef_sgd{top_k{2}}, p) == doctest::Approx(.25 / 21 / std::sqrt(.75)));
}
