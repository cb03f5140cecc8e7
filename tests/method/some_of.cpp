// SPDX-License-Identifier: Apache-2.0
// Rounds in which only some ranks send: the theorems in exact expectation, the draws, and what absent ranks send.
// methods_known.cpp has known answers of ranks that take turns.
#include "laconic/method/some_of.hpp"

#include "support/bowl_runs.hpp"
#include "support/everything.hpp"

using bowls::composed, bowls::vec;

round_context of_round(std::uint64_t round, int rank, int ranks) {
    return round_context::of(key{7}, round, rank, ranks);
}
// Who takes part in a round of 4 ranks, as bits.
unsigned drawn(std::uint64_t round, std::size_t some) {
    std::vector<double> lots;
    unsigned set = 0;
    for (int r = 0; r < 4; ++r) {
        auto const now = of_round(round, r, 4);
        set |= unsigned{detail::lot_of(now.own) <= detail::largest_lot(now, some, lots)} << r;
    }
    return set;
}

TEST_CASE("so many ranks are drawn in every round, every set equally often; all of them if there are no more") {
    std::array<int, 16> seen{};
    for (std::uint64_t round = 0; round < 6000; ++round) {
        auto const set = drawn(round, 2);
        REQUIRE(std::popcount(set) == 2);
        ++seen[set];
    }
    for (unsigned set = 0; set < 16; ++set)
        if (std::popcount(set) == 2) CHECK(std::abs(seen[set] - 1000) < 6 * 29);  // 6 standard deviations
    CHECK(std::popcount(drawn(1, 1)) == 1);
    CHECK(drawn(1, 4) == 15);
    CHECK(drawn(1, 9) == 15);
}

// The shifts and the iterate of all ranks after the round that r starts, by its draws, in plain loops.
TEST_CASE("SCAFFOLD of two ranks of four moves the c_i of those that send, and ends at the optimum") {
    auto const xs = bowls::course(composed(some_of{scaffold{5, {.step = .1}}, 2}), 300, 7);
    std::array<vec, 4> own;
    own.fill(vec(bowls::d, 0));
    vec x(bowls::d, 1), c(bowls::d, 0);
    for (std::uint64_t round = 0; round < 20; ++round) {
        auto const set = drawn(round, 2);
        vec next = x, next_c = c;
        for (int i = 0; i < 4; ++i)
            for (std::size_t j = 0; j < bowls::d; ++j) {
                double& c_i = own[static_cast<std::size_t>(i)][j];
                double y = x[j];
                for (int step = 0; step < 5; ++step) y -= .1 * (bowls::gradient(i, j, y) - c_i + c[j]);
                if (!(set >> i & 1)) continue;
                next[j] += (y - x[j]) / 2;
                double const moved = (x[j] - y) / .5 - c[j];
                next_c[j] += moved / 4;
                c_i += moved;
            }
        x = next, c = next_c;
        for (std::size_t j = 0; j < bowls::d; ++j) REQUIRE(xs[round + 1][j] == doctest::Approx(x[j]).epsilon(1e-12));
    }
    bowls::check(xs.back(), {.330357142857, -.408333333333, 2.57869293823});
}

TEST_CASE("local SGD of some ranks moves to the mean of their models, EF21 in proportion to its mean shift") {
    auto const xs = bowls::course(composed(some_of{local_sgd{1, 0, {.step = .25}}, 1}), 1, 7);
    auto const set = drawn(0, 1);
    for (int i = 0; i < 4; ++i)
        if (set >> i & 1)
            for (std::size_t j = 0; j < bowls::d; ++j)
                CHECK(xs[1][j] == doctest::Approx(1 - .25 * bowls::gradient(i, j, 1)).epsilon(1e-12));
    auto const ys = bowls::course(composed(some_of{ef21{identity{}, {.step = .25}}, 1}), 1, 7);
    for (std::size_t j = 0; j < bowls::d; ++j)
        CHECK(ys[1][j] == doctest::Approx(1 + (xs[1][j] - 1) / 4).epsilon(1e-12));
}

TEST_CASE("a rank that is not drawn sends no bit") {
    fibers::run(4, [&](fibers::member& comm) {
        vec x(bowls::d, 1);
        bowls::bowl const f{comm.rank()};
        descent run(composed(some_of{diana{rand_k{2}, {.step = .1}}, 3}), f, comm, std::span<double>(x), 7);
        for (std::uint64_t round = 0; round < 10; ++round) {
            run.round();
            CHECK(account(run.message()).unpadded() == (drawn(round, 3) >> comm.rank() & 1 ? 2 * 64 : 0));
        }
    });
}

// The tight theorem on EF21 with delta / 2: in expectation over the six pairs of ranks, from any x and shifts.
TEST_CASE("EF21 of two ranks of four falls in expectation as its theorem promises") {
    problem p{bowls::d, 4, 1.125, .875, 1.5, 1.5, .5};
    p.participants = 2;
    auto const proved = ef21{top_k{2}}.proved(p);
    double const s = std::sqrt(1 - .125);
    CHECK(proved.theorem.starts_with("the tight"));
    CHECK(proved.size == doctest::Approx((1 - s) / (1 + s)).epsilon(1e-12));  // L + mu = 2
    CHECK(composed(some_of{ef21{top_k{2}, {.step = .1}}, 2}).feedback.rate() == 1);
    host on;
    auto const value = [&](vec const& x, std::array<vec, 4> const& h) {
        double v = 0;
        for (std::size_t j = 0; j < bowls::d; ++j) {
            double sum = 0;
            for (int i = 0; i < 4; ++i) {
                double const g = bowls::gradient(i, j, x[j]), off = g - h[static_cast<std::size_t>(i)][j];
                sum += g, v += off * off;
            }
            v += s / 4 * sum * sum;
        }
        return v;
    };
    double worst = 0;
    for (std::uint64_t trial = 0; trial < 50; ++trial) {
        key const from = key{3}.child(trial);
        std::uint64_t n = 0;
        auto const draw = [&](double size) { return size * (2 * from.uniform(n++) - 1); };
        vec x(bowls::d);
        std::array<vec, 4> h;
        for (double& v : x) v = draw(3);
        double const spread = std::pow(10, draw(2));
        for (int i = 0; i < 4; ++i)
            for (std::size_t j = 0; j < bowls::d; ++j)
                h[static_cast<std::size_t>(i)].push_back(bowls::gradient(i, j, x[j]) + draw(spread));
        vec next = x;
        for (std::size_t j = 0; j < bowls::d; ++j) next[j] -= proved.size * (h[0][j] + h[1][j] + h[2][j] + h[3][j]) / 4;
        double mean = 0;
        for (unsigned set = 0; set < 16; ++set) {
            if (std::popcount(set) != 2) continue;
            auto moved = h;
            for (std::size_t i = 0; i < 4; ++i) {
                if (!(set >> i & 1)) continue;
                vec delta(bowls::d);
                for (std::size_t j = 0; j < bowls::d; ++j)
                    delta[j] = bowls::gradient(static_cast<int>(i), j, next[j]) - h[i][j];
                add_message(on, std::span(moved[i]), 1., compress(top_k{2}, delta, key{1}));
            }
            mean += value(next, moved) / 6;
        }
        worst = std::max(worst, mean / value(x, h) / proved.factor);
    }
    CHECK(worst <= 1);
    CHECK(worst > .9);
}

// What DIANA-PP's omega' stands for: with q = mean |delta_i|^2 the mean of m messages of n varies by
// (omega / m) q + (n - m) / (m (n - 1)) (q - |mean delta|^2).
TEST_CASE("the mean of some messages varies by omega' / n, in exact expectation") {
    constexpr std::size_t n = 4, m = 2;
    double const delta[n][2] = {{1, -2}, {.5, 3}, {-1, .25}, {2, 2}}, omega = 1;  // one of two numbers, doubled
    double q = 0, mean[2] = {}, seen = 0;
    for (auto const& v : delta)
        for (int j = 0; j < 2; ++j) q += v[j] * v[j] / n, mean[j] += v[j] / n;
    for (std::size_t a = 0; a < n; ++a)
        for (std::size_t b = 0; b < a; ++b)
            for (int of_a : {0, 1})
                for (int of_b : {0, 1}) {
                    double sum[2] = {};
                    sum[of_a] += 2 * delta[a][of_a] / m, sum[of_b] += 2 * delta[b][of_b] / m;
                    for (int j = 0; j < 2; ++j) seen += std::pow(sum[j] - mean[j], 2) / 24;
                }
    double const apart = q - mean[0] * mean[0] - mean[1] * mean[1];
    CHECK(seen == doctest::Approx(omega / m * q + double(n - m) / (m * (n - 1)) * apart).epsilon(1e-12));
    problem p{2, n, 1, 1, 1, 1, 1};
    p.participants = m;
    auto const alpha = diana{rand_k{1}}.compose<double, host>(p).feedback.rate();
    double const of_some = double(n) / m * (omega + double(n - m) / (n - 1));  // omega'
    CHECK(alpha == doctest::Approx(1 / (2 * (1 + of_some))).epsilon(1e-12));
    CHECK(seen <= of_some / n * q * (1 + 1e-12));
}

// DIANA of two ranks of three, on two coordinates of which each message has one: in expectation over all messages.
TEST_CASE("DIANA of two ranks of three falls in expectation as its theorem promises") {
    problem const p{2, 3, 3, 1, 4, 4, .5};
    double const omega = 1.5 * (1 + .5);
    auto const r = some_of{diana{rand_k{1}}, 2}.compose<double, host>(p);
    double const alpha = r.feedback.rate(), step = r.step.rate;
    CHECK(alpha == doctest::Approx(1 / (2 * (1 + omega))));
    CHECK(step == doctest::Approx(std::min(alpha / .5, 2 / (4.5 * (1 + 2 * omega / 3)))));
    // f_i(x) = sum_j a_ij (x_j - b_ij)^2 / 2, a from 0.5 to 4
    double const a[3][2] = {{.5, 4}, {4, .5}, {.5, .5}}, b[3][2] = {{1, -2}, {0, 3}, {-1, 1}};
    double best[2];
    for (int j = 0; j < 2; ++j)
        best[j] = (a[0][j] * b[0][j] + a[1][j] * b[1][j] + a[2][j] * b[2][j]) / (a[0][j] + a[1][j] + a[2][j]);
    auto const gradient = [&](int i, int j, double x) { return a[i][j] * (x - b[i][j]); };
    using shifts = std::array<std::array<double, 2>, 3>;
    auto const value = [&](std::array<double, 2> const& x, shifts const& h) {
        double v = 0;
        for (int j = 0; j < 2; ++j) {
            v += (x[j] - best[j]) * (x[j] - best[j]);
            for (int i = 0; i < 3; ++i) {
                double const off = h[i][j] - gradient(i, j, best[j]);
                v += 4 * omega * (1 + omega) / 3 * step * step * off * off / 3;
            }
        }
        return v;
    };
    double worst = 0;
    for (std::uint64_t trial = 0; trial < 100; ++trial) {
        key const from = key{5}.child(trial);
        double const spread = std::pow(10, 4 * from.uniform(20) - 2);
        std::array<double, 2> x;
        shifts h;
        for (std::size_t j = 0; j < 2; ++j) {
            x[j] = best[j] + 2 * from.uniform(j) - 1;
            for (std::size_t i = 0; i < 3; ++i)
                h[i][j] = gradient(int(i), int(j), best[j]) + spread * (2 * from.uniform(2 + 2 * i + j) - 1);
        }
        double mean = 0;
        for (std::size_t absent = 0; absent < 3; ++absent)
            for (unsigned choice = 0; choice < 4; ++choice) {
                auto next = x;
                auto moved = h;
                unsigned left = choice;
                for (std::size_t i = 0; i < 3; ++i) {
                    std::size_t const j = left & 1;
                    if (i != absent) left >>= 1;
                    double const sent = i == absent ? 0 : 1.5 * 2 * (gradient(int(i), int(j), x[j]) - h[i][j]);
                    for (std::size_t c = 0; c < 2; ++c) next[c] -= step * (h[i][c] + (c == j ? sent : 0)) / 3;
                    moved[i][j] += alpha * sent;
                }
                mean += value(next, moved) / 12;
            }
        worst = std::max(worst, mean / value(x, h) / (1 - step * .5));
    }
    CHECK(worst <= 1);
    CHECK(worst > .9);
}

TEST_CASE("methods without such a form are refused, and all ranks taking part is the method itself") {
    CHECK_THROWS_WITH_AS(composed(some_of{gd{{.step = .1}}, 2}), doctest::Contains("gd(step=0.1) has no form"),
                         argument_error);
    CHECK_THROWS_AS(composed(some_of{ef21{top_k{2}, {.step = .1}}, 0}), argument_error);
    CHECK_THROWS_AS(participation(0, false), argument_error);
    ef21 const all{top_k{2}, {.step = .1}};
    CHECK(bowls::course(composed(some_of{all, 4}), 20) == bowls::course(composed(all), 20));
    CHECK(bowls::course(composed(some_of{all, 3}), 20) != bowls::course(composed(all), 20));
    CHECK(bowls::course(composed(heavy_ball{some_of{all, 3}, 0}), 20) ==
          bowls::course(composed(some_of{heavy_ball{all, 0}, 3}), 20));
}
