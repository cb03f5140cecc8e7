// SPDX-License-Identifier: Apache-2.0
// ISAGA falls at the rate of its theorem and reaches the optimum with one row and one block a round.
#include "laconic/method/isaga.hpp"

#include "support/real_data.hpp"
#include "support/sums.hpp"
#include "support/test.hpp"

using namespace laconic;
using namespace toys;

static_assert(Method<isaga>);

namespace {

// Workers whose rows differ and whose means agree on the optimum (1, -2, 3, 1).
std::vector<mean_of_rows> agreeing(std::size_t n, std::size_t m, std::uint64_t seed) {
    return random_sums(n, m, std::vector<vec>(n, {1, -2, 3, 1}), 1, seed);
}
vec const optimal{1, -2, 3, 1};

// sum_ij |table_ij - grad f_ij(x*)|^2.
template <class Run>
double table_error(Run const& run, std::vector<mean_of_rows> const& f) {
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

TEST_CASE("real data: the function of its theorem falls as it says, in exact expectation, for workers made to agree") {
    auto const real = real_data(10);
    if (!real) return;
    auto const f = made_to_agree(*real);
    auto const& p = real->p;
    auto const& best = real->best;
    auto const there = row_gradients(f, best.x);
    auto const r = isaga{1, 1}.compose<double, host>(p);
    double const tau = 1. / 13, step = r.step.rate, weight = 3. / 100 * step * step;
    CHECK(step == doctest::Approx(1 / (p.largest_sample_smoothness * (tau + .4))));
    auto const staleness = [&](block_saga<> const& e, std::size_t i) {
        double total = 0;
        for (std::size_t j = 0; j < 27; ++j) total += distance2(e.table().subspan(13 * j, 13), there[i][j]);
        return total;
    };
    host on;
    message_of<decltype(r.compressor)> m;
    // Keys under which each row, and each coordinate, is drawn once.
    std::map<std::uint64_t, key> rows, coordinates;
    for (std::uint64_t seed = 0; rows.size() < 27; ++seed) rows.emplace(key{seed}.below(0, 27), key{seed});
    for (std::uint64_t seed = 0; coordinates.size() < 13; ++seed) {
        r.compressor(on, std::span<double const>(best.x), key{seed}, m);
        coordinates.emplace(m.inside.support[0], key{seed});
    }
    lockstep run(r, f, vec(13, 0.0), 1);
    run.round();
    double worst = 0;
    for (std::size_t const wait : {0u, 10u, 100u, 1000u}) {
        run.rounds(wait);
        double v = distance2(run.x(), best.x), stale = 0, variance = 0;
        vec next = run.x();
        for (std::size_t i = 0; i < 10; ++i) {
            v += weight * staleness(run.method(i).estimator, i);
            vec mean(13);
            double squares = 0;
            for (auto const& [row, gradient] : rows)
                for (auto const& [coordinate, own] : coordinates) {
                    auto mine = run.method(i).estimator;
                    round_context now;
                    now.own = own;
                    now.gradient = gradient;
                    vec g(13), decoded(13);
                    mine(on, f[i], now, std::span<double const>(run.x()), std::span<double>(g));
                    r.compressor(on, std::span<double const>(g), own, m);
                    add_message(on, std::span(decoded), 1.0, m);
                    for (std::size_t j = 0; j < 13; ++j) mean[j] += decoded[j] / 351;
                    squares += norm2(decoded) / 351;
                    mine.update(on, std::span<double const>(run.x()));
                    stale += staleness(mine, i) / 351;
                }
            for (std::size_t j = 0; j < 13; ++j) next[j] -= step * mean[j] / 10;
            variance += (squares - norm2(mean)) / 100;
        }
        double const expected = distance2(next, best.x) + step * step * variance + weight * stale;
        worst = std::max(worst, expected / v);
    }
    CHECK(worst <= 1 - tau * std::min(step * p.strong_convexity, 1. / 81));
    CHECK(worst > .9);
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
    // The table holds what each block was when it was sent, so the row's gradient and its table cancel.
    for (int k = 0; k < 50; ++k) {
        a.round();
        b.round();
        CHECK(distance2(a.x(), b.x()) < 1e-26);
    }
}

TEST_CASE("its step by hand, and wrong arguments refused with the reason") {
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

TEST_CASE("its text has its arguments") {
    CHECK(to_string(isaga{}) == "isaga(block=256)");
    CHECK(to_string(isaga{.1, 8, {.step = .5}}) == "isaga(tau=0.1, block=8, step=0.5)");
}
