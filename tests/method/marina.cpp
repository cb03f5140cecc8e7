// SPDX-License-Identifier: Apache-2.0
// DASHA falls in exact expectation as its theorems promise. methods_known.cpp has its known answers.
#include "laconic/method/marina.hpp"

#include "support/bowl_runs.hpp"
#include "support/everything.hpp"

// The bowls as means of two functions each, of 5/4 and 3/4 times the curvatures.
struct two_bowls : bowls::bowl {
    static double share(std::uint32_t row) { return row == 0 ? 1.25 : .75; }
    std::size_t samples() const { return 2; }
    void batch_gradient(std::span<std::uint32_t const> rows, std::span<double const> x, std::span<double> g) const {
        std::fill(g.begin(), g.end(), 0);
        for (std::size_t j = 0; j < x.size(); ++j)
            for (auto const row : rows)
                g[j] += share(row) * bowls::gradient(rank, j, x[j]) / static_cast<double>(rows.size());
    }
};

TEST_CASE("DASHA-PAGE: rounds with a row each, and with all, in plain loops; it ends at the optimum") {
    std::vector<bowls::vec> xs;
    std::uint64_t const seed = 5;
    problem p = bowls::constants;
    p.samples = 2;
    fibers::run(bowls::ranks, [&](fibers::member& comm) {
        bowls::vec x(bowls::d, 1);
        two_bowls const f{{comm.rank()}};
        auto const r = dasha{bowls::cyclic{2, comm.rank(), std::size_t(-1)}, {.step = .1, .batch = 1}};
        descent run(r.compose<double, host>(p), f, comm, std::span<double>(x), seed);
        for (int k = 0; k < 300; ++k) {
            run.round();
            if (comm.rank() == 0) xs.push_back(x);
        }
    });
    bowls::vec x(bowls::d, 1), last(bowls::d);
    std::array<bowls::vec, bowls::ranks> v, h;
    int in_full = 0;
    for (std::uint64_t round = 0; round < 60; ++round) {
        bowls::vec next = x;
        for (std::size_t i = 0; i < bowls::ranks; ++i) {
            auto const now = round_context::of(key{seed}, round, int(i), bowls::ranks);
            bool const all = round == 0 || now.shared.child(3).uniform(0) < 1. / 3;
            in_full += all;
            double const share = two_bowls::share(static_cast<std::uint32_t>(now.gradient.below(0, 2)));
            bowls::vec u(bowls::d);
            for (std::size_t j = 0; j < bowls::d; ++j) {
                double const here = bowls::gradient(int(i), j, x[j]);
                u[j] = all ? here : v[i][j] + share * (here - bowls::gradient(int(i), j, last[j]));
            }
            if (round == 0) h[i] = u;
            for (std::size_t t = 0; t < 2 && round > 0; ++t) {
                std::size_t const j = (2 * (round - 1) + i + t) % bowls::d;
                h[i][j] += 4 * (u[j] - v[i][j] - (h[i][j] - v[i][j]) / 7);
            }
            v[i] = u;
            for (std::size_t j = 0; j < bowls::d; ++j) next[j] -= .1 * h[i][j] / 4;
        }
        last = x, x = next;
        for (std::size_t j = 0; j < bowls::d; ++j) REQUIRE(xs[round][j] == doctest::Approx(x[j]).epsilon(1e-12));
    }
    CHECK(in_full > 4 * 10);
    CHECK(in_full < 4 * 35);
    bowls::vec off = xs.back();
    CHECK(off[0] == doctest::Approx(.330357142857).epsilon(1e-6));
    CHECK(off[7] == doctest::Approx(-.408333333333).epsilon(1e-6));
}

namespace {

constexpr std::size_t n = 2, d = 3;
using vector_of = std::array<double, d>;
using ranks_of = std::array<vector_of, n>;

// f_i(x) = sum_j a_ij x_j^2 / 2 - b_ij x_j, of opposite curvatures where `bent`.
struct bowls_of_two {
    ranks_of a, b{{{1, -2, .5}, {-1, 1, 2}}};
    vector_of curvature{}, best{};

    explicit bowls_of_two(bool bent) : a{{{4, .5, 1}, {1, bent ? -.4 : 3., .25}}} {
        for (std::size_t j = 0; j < d; ++j) {
            curvature[j] = (a[0][j] + a[1][j]) / 2;
            best[j] = (b[0][j] + b[1][j]) / 2 / curvature[j];
        }
    }
    double gradient(std::size_t i, std::size_t j, double x) const { return a[i][j] * x - b[i][j]; }
    problem constants(double mu) const {
        double const l = std::max({curvature[0], curvature[1], curvature[2]});
        return {d, n, l, mu, 4, std::sqrt((16 + std::max(1., a[1][1] * a[1][1])) / 2)};
    }
    // f - f*, |mean h_i - grad f|^2, mean |h_i - grad f_i|^2
    std::array<double, 3> parts(vector_of const& x, ranks_of const& h) const {
        std::array<double, 3> all{};
        for (std::size_t j = 0; j < d; ++j) {
            double const off = x[j] - best[j], u = h[0][j] - gradient(0, j, x[j]), v = h[1][j] - gradient(1, j, x[j]);
            all[0] += curvature[j] * off * off / 2;
            all[1] += (u + v) * (u + v) / 4;
            all[2] += (u * u + v * v) / 2;
        }
        return all;
    }
};

// The largest of (E Phi+ - bound) / Phi over many states, and of E Phi+ / bound.
double worst_excess(bowls_of_two const& f, double mu) {
    auto const r = dasha{rand_k{1}}.compose<double, host>(f.constants(mu));
    double const omega = d - 1, a = 1 / (2 * omega + 1), step = r.step.rate;
    CHECK(to_string(r.feedback) == "last_gradient(0, correction=0.2)");
    double const of_mean = mu > 0 ? step / a : step / (2 * a);
    double const of_each = (mu > 0 ? 4 : 1) * step * omega / n;
    auto const phi = [&](vector_of const& x, ranks_of const& h) {
        auto const p = f.parts(x, h);
        return p[0] + of_mean * p[1] + of_each * p[2];
    };
    double worst = -1;
    for (std::uint64_t trial = 0; trial < 400; ++trial) {
        key const from = key{11}.child(trial);
        double const far = std::pow(10, 3 * from.uniform(20) - 2), wide = std::pow(10, 3 * from.uniform(21) - 2);
        vector_of x;
        ranks_of h, change;
        double slope = 0;
        for (std::size_t j = 0; j < d; ++j) {
            x[j] = f.best[j] + far * (2 * from.uniform(j) - 1);
            slope += std::pow(f.curvature[j] * (x[j] - f.best[j]), 2);
            for (std::size_t i = 0; i < n; ++i)
                h[i][j] = f.gradient(i, j, x[j]) + wide * (2 * from.uniform(3 + i * d + j) - 1);
        }
        auto next = x;
        for (std::size_t j = 0; j < d; ++j) {
            next[j] -= step * (h[0][j] + h[1][j]) / 2;
            for (std::size_t i = 0; i < n; ++i) {
                double const g = f.gradient(i, j, x[j]);
                change[i][j] = f.gradient(i, j, next[j]) - g - a * (h[i][j] - g);
            }
        }
        double mean = 0;
        for (std::size_t one = 0; one < d; ++one)
            for (std::size_t other = 0; other < d; ++other) {
                auto moved = h;
                moved[0][one] += d * change[0][one];
                moved[1][other] += d * change[1][other];
                mean += phi(next, moved) / (d * d);
            }
        double const now = phi(x, h), bound = mu > 0 ? (1 - step * mu) * now : now - step / 2 * slope;
        worst = std::max(worst, (mean - bound) / now);
    }
    return worst;
}

}  // namespace

TEST_CASE("DASHA falls in expectation as its theorems promise, of convex and of other functions") {
    for (bool const bent : {false, true}) {
        bowls_of_two const f(bent);
        double const least = *std::min_element(f.curvature.begin(), f.curvature.end());
        for (double const mu : {0., least}) {
            CAPTURE(bent);
            CAPTURE(mu);
            double const worst = worst_excess(f, mu);
            CHECK(worst <= 0);
            CHECK(worst > -.05);  // which a longer step would exceed
        }
    }
}
