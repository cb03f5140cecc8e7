// SPDX-License-Identifier: Apache-2.0
// L-SVRG is unbiased wherever its reference is, exact there, and moves it on all ranks at once as often as p says.
#include "laconic/estimate/l_svrg.hpp"

#include "support/everything.hpp"
#include "support/samples.hpp"
#include "support/states.hpp"

using namespace samples;

// A round in which w moves with this p, or stays.
round_context with_coin(double p, bool moves, std::uint64_t from = 0) {
    for (std::uint64_t seed = from;; ++seed)
        if (auto const now = round_context::of({seed}, 1, 0, 1); (now.shared.uniform(0) < p) == moves) return now;
}

TEST_CASE("the first round is exact, and its iterate the reference point") {
    auto const f = logistic_of(6, 4, 1);
    auto const x = point(4, 2), y = point(4, 3);
    l_svrg<> e(2, .25);
    CHECK(e.reference().empty());
    auto const g = round_of(e, f, with_coin(.25, false), x, y);
    CHECK(g == gradient_of(f, x));
    CHECK(distance(e.reference(), x) == 0);
    CHECK(distance(e.reference_gradient(), g) == 0);
}

TEST_CASE("unbiased wherever w is, over all rows that may be drawn; exact at w") {
    auto const f = logistic_of(5, 4, 1);
    auto const w = point(4, 2);
    for (std::size_t const batch : {1u, 2u}) {
        CAPTURE(batch);
        l_svrg<> e(batch, .5);
        round_of(e, f, round_context{}, w, w);
        auto const all = all_draws(5, batch);
        for (auto const& now : all) CHECK(distance(estimated(e, f, now, w), gradient_of(f, w)) < 1e-15);
        for (std::uint64_t seed = 3; seed < 6; ++seed) {
            auto const x = point(4, seed);
            moments const found(e, f, all, x);
            CHECK(distance(found.mean, gradient_of(f, x)) < 1e-15);
            CHECK(found.variance > 1e-4);
        }
    }
}

TEST_CASE("its variance falls with the square of the way to w, a mini batch's does not") {
    auto const f = logistic_of(5, 4, 1, 0);
    auto const w = point(4, 2), direction = point(4, 9);
    l_svrg<> e(1, .5);
    round_of(e, f, round_context{}, w, w);
    auto const all = all_draws(5, 1);
    auto const variance = [&](double way) {
        auto x = w;
        for (std::size_t i = 0; i < 4; ++i) x[i] += way * direction[i];
        return moments(e, f, all, x).variance;
    };
    double const near = variance(1e-3);
    CHECK(near > 0);
    CHECK(variance(2e-3) / near == doctest::Approx(4).epsilon(0.01));
    mini_batch one(1);
    CHECK(moments(one, f, all, w).variance > 1e-2);
}

TEST_CASE("the reference by hand: it moves to the iterate of the round, not the next one, when the coin says so") {
    auto const f = logistic_of(6, 3, 5);
    l_svrg<> e(1, .3);
    auto const x0 = point(3, 0), x1 = point(3, 1), x2 = point(3, 2), x3 = point(3, 3);
    round_of(e, f, round_context{}, x0, x1);
    auto const stay = with_coin(.3, false), move = with_coin(.3, true);
    round_of(e, f, stay, x1, x2);
    CHECK(distance(e.reference(), x0) == 0);
    auto const g = round_of(e, f, move, x2, x3);  // still from x0
    std::vector<std::uint32_t> row;
    detail::draw_rows(move.gradient, 6, 1, row);
    auto const here = gradient_of_row(f, row[0], x2), there = gradient_of_row(f, row[0], x0), all = gradient_of(f, x0);
    for (std::size_t i = 0; i < 3; ++i) CHECK(g[i] == doctest::Approx(here[i] - there[i] + all[i]).epsilon(1e-15));
    CHECK(distance(e.reference(), x2) == 0);
    CHECK(distance(e.reference_gradient(), gradient_of(f, x2)) == 0);
}

TEST_CASE("a round that is not sent changes nothing, however often it is computed") {
    auto const f = logistic_of(6, 3, 5);
    l_svrg<> e(2, .3);
    auto const x0 = point(3, 0), x1 = point(3, 1);
    estimated(e, f, with_coin(.3, true), x1);
    CHECK(e.reference().empty());
    round_of(e, f, round_context{}, x0, x1);
    auto const move = with_coin(.3, true), stay = with_coin(.3, false);
    auto const once = estimated(e, f, move, x1);
    CHECK(distance(e.reference(), x0) == 0);
    CHECK(estimated(e, f, move, x1) == once);
    round_of(e, f, stay, x1, x0);  // the coin of the round that was sent counts
    CHECK(distance(e.reference(), x0) == 0);
    CHECK(distance(e.reference_gradient(), gradient_of(f, x0)) == 0);
}

TEST_CASE("all ranks move at once, as often as p says; p = 0 stands for batch / samples") {
    auto const f = logistic_of(8, 2, 5);
    auto const x = point(2, 0), y = point(2, 1);
    for (double const p : {0.0, 0.4}) {
        l_svrg<> one(2, p), other(2, p);
        round_of(one, f, round_context{}, x, x);
        round_of(other, f, round_context{}, x, x);
        int moved = 0;
        for (std::uint64_t round = 0; round < 4000; ++round) {
            auto e = one, its = other;
            round_of(e, f, round_context::of({7}, round, 0, 2), y, y);
            round_of(its, f, round_context::of({7}, round, 1, 2), y, y);
            CHECK(distance(e.reference(), its.reference()) == 0);
            moved += distance(e.reference(), y) == 0;
        }
        double const expected = p == 0 ? 2. / 8 : p;
        CHECK(std::abs(moved - 4000 * expected) < 5 * std::sqrt(4000 * expected * (1 - expected)));
    }
    l_svrg<> always(20, 0);  // more than there are: w moves every round
    round_of(always, f, round_context{}, x, x);
    for (std::uint64_t round = 0; round < 20; ++round) {
        auto const at = point(2, 10 + round);
        round_of(always, f, round_context::of({1}, round, 0, 1), at, x);
        CHECK(distance(always.reference(), at) == 0);
    }
}

TEST_CASE("wrong arguments are refused with the reason") {
    CHECK_THROWS_WITH_AS(l_svrg<>(0), "l_svrg: a batch of 0 rows", argument_error);
    CHECK_THROWS_WITH_AS(l_svrg<>(1, 1.5), "l_svrg: p = 1.5 is outside [0, 1]", argument_error);
    CHECK_THROWS_AS(l_svrg<>(1, -.1), argument_error);
    CHECK_THROWS_AS(l_svrg<>(1, std::nan("")), argument_error);
    auto const f = logistic_of(5, 3, 2), wider = logistic_of(5, 4, 2);
    l_svrg<> e;
    round_of(e, f, round_context{}, point(3, 0), point(3, 0));
    CHECK_THROWS_WITH_AS(estimated(e, wider, round_context{}, point(4, 0)), doctest::Contains("another objective"),
                         shape_error);
}

TEST_CASE("its text has its arguments, and it works in float") {
    CHECK(to_string(l_svrg<>(8, .125)) == "l_svrg(batch=8, p=0.125)");
    dataset<float> data{"two", {}, {1, -1}};
    data.rows.resize(2, 1);
    data.rows.insert(0, 0) = 2;
    data.rows.insert(1, 0) = 1;
    data.rows.makeCompressed();
    logistic_regression<float> const f(data, 0);
    l_svrg<float> e(1, .5);
    host on;
    std::vector<float> const x{0};
    std::vector<float> g(1);
    e(on, f, round_context{}, std::span<float const>(x), std::span<float>(g));
    CHECK(g[0] == -.25f);  // the mean of -2/2 and 1/2
}

TEST_CASE("its state is all that the next rounds need; with one sample it is the full gradient") {
    has_a_state_and_is_exact(l_svrg<>(2), logistic_of(6, 3, 5), l_svrg<>(), logistic_of(1, 3, 2));
}
