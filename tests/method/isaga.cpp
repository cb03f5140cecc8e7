// SPDX-License-Identifier: Apache-2.0
#include "laconic/method/isaga.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "sums.hpp"

using namespace laconic;
using namespace toys;

namespace {

// Workers whose rows differ and whose means agree on the optimum (1, -2, 3, 1).
std::vector<sum> agreeing(std::size_t n, std::size_t m, std::uint64_t seed) {
    return random_sums(n, m, std::vector<vec>(n, {1, -2, 3, 1}), 1, seed);
}
vec const optimal{1, -2, 3, 1};

// sum_ij |table_ij - grad f_ij(x*)|^2.
template <class Run>
double table_error(Run const& run, std::vector<sum> const& f) {
    double total = 0;
    vec g(4);
    for (std::size_t i = 0; i < f.size(); ++i) {
        auto const table = run.method(i).estimator.table();
        for (std::size_t j = 0; j < f[i].samples(); ++j) {
            f[i].rows[j].gradient(optimal, g);
            total += distance2(table.subspan(4 * j, 4), g);
        }
    }
    return total;
}

}  // namespace

TEST_CASE("the function of its theorem falls as fast as it says, on average over runs") {
    auto const f = agreeing(4, 3, 2);
    auto const p = constants(f);
    for (portion const tau : {portion(1), portion(2)}) {
        auto const r = isaga{tau, 1}.compose<double, host>(p);
        double const share = tau.value / 4, step = r.step.rate;
        CHECK(step == doctest::Approx(1 / (p.largest_sample_smoothness * (share + 1))));
        double const rate = share * std::min(step * p.strong_convexity, 1. / 9), weight = 3. / 16 * step * step;
        std::size_t const runs = 200, rounds = 60;
        std::vector<double> mean(rounds), square(rounds);
        for (std::uint64_t seed = 0; seed < runs; ++seed) {
            lockstep run(r, f, vec(4, 0.0), seed);
            for (std::size_t k = 0; k < rounds; ++k) {
                run.round();
                double const v = distance2(run.x(), optimal) + weight * table_error(run, f);
                mean[k] += v / double(runs);
                square[k] += v * v / double(runs);
            }
        }
        for (std::size_t k = 0; k + 20 < rounds; k += 5) {
            double const error = std::sqrt((square[k + 20] - mean[k + 20] * mean[k + 20]) / double(runs));
            CHECK(mean[k + 20] - 5 * error <= std::pow(1 - rate, 20) * mean[k]);
        }
        CHECK(mean[rounds - 1] < mean[0]);
    }
}

TEST_CASE("it goes to the optimum where one row a round, without the table, stays away") {
    auto const f = agreeing(4, 5, 3);
    auto const p = constants(f);
    auto const r = isaga{1, 1}.compose<double, host>(p);
    lockstep run(r, f, vec(4, 0.0), 1);
    run.rounds(6000);
    CHECK(distance2(run.x(), optimal) < 1e-20);
    CHECK(table_error(run, f) < 1e-15);
    lockstep without(ibcd{1, 1, {.step = r.step.rate, .batch = 1}}.compose<double, host>(p), f, vec(4, 0.0), 1);
    without.rounds(6000);
    double nearest = 1e300;
    for (int k = 0; k < 500; ++k) {
        without.round();
        nearest = std::min(nearest, distance2(without.x(), optimal));
    }
    CHECK(nearest > 1e-6);
}

TEST_CASE("one row a worker is ibcd, but for roundings") {
    auto const f = agreeing(3, 1, 4);
    auto const p = constants(f);
    lockstep a(isaga{2, 1, {.step = .1}}.compose<double, host>(p), f, vec(4, 0.0), 1);
    lockstep b(ibcd{2, 1, {.step = .1}}.compose<double, host>(p), f, vec(4, 0.0), 1);
    // The table holds what each block was when it was said, so the row's news and its table cancel.
    for (int k = 0; k < 50; ++k) {
        a.round();
        b.round();
        CHECK(distance2(a.x(), b.x()) < 1e-26);
    }
}

TEST_CASE("its step by hand, and what it refuses") {
    problem p{16, 8, 5, .5, 6, 6};
    CHECK_THROWS_WITH_AS((isaga{.25, 4}.compose<double, host>(p)),
                         doctest::Contains("isaga: its theorem needs max L_ij"), theory_error);
    p.largest_sample_smoothness = 10;
    CHECK(isaga{.25, 4}.compose<double, host>(p).step.rate == doctest::Approx(1 / (10 * (.25 + .5))));
    CHECK(isaga{0, 2}.compose<double, host>(p).step.rate == doctest::Approx(8. / 50));  // n / (5 L)
    CHECK(isaga{.25, 4, {.step = .1}}.compose<double, host>(problem{16, 8}).step.rate == .1);
    CHECK_THROWS_AS((isaga{.25, 4, {.batch = 2}}.compose<double, host>(p)), argument_error);
    CHECK_THROWS_AS((isaga{.25, 4, {.memory = .25}}.compose<double, host>(p)), argument_error);
}

TEST_CASE("as it is written") {
    CHECK(to_string(isaga{}) == "isaga(block=256)");
    CHECK(to_string(isaga{.1, 8, {.step = .5}}) == "isaga(tau=0.1, block=8, step=0.5)");
}
