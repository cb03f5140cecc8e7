// SPDX-License-Identifier: Apache-2.0
// L-SVRG is unbiased wherever its reference is, exact there, and moves it on all ranks at once as often as p says.
#include "laconic/estimate/variance_reduced.hpp"

#include "support/everything.hpp"
#include "support/samples.hpp"
#include "support/states.hpp"
#include "support/sums.hpp"

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

// SAGA is exact at first, unbiased whatever its table holds, and its mean stays that of the table.


// The mean that the table stands for, from the table.
vec mean_of_table(saga<> const& e, auto const& f) {
    vec mean(f.dimension());
    for (std::size_t j = 0; j < f.samples(); ++j)
        f.add_row(j, e.table().subspan(j * f.outputs(), f.outputs()), 1 / static_cast<double>(f.samples()),
                  std::span<double>(mean));
    return mean;
}
vec slopes_of(auto const& f, std::size_t j, vec const& x) {
    vec s(f.outputs());
    f.slopes(j, std::span<double const>(x), std::span<double>(s));
    return s;
}
vec kept_for(saga<> const& e, auto const& f, std::size_t j) {
    auto const s = e.table().subspan(j * f.outputs(), f.outputs());
    return {s.begin(), s.end()};
}
std::vector<std::uint32_t> drawn_in(round_context const& now, std::size_t m, std::size_t size) {
    std::vector<std::uint32_t> drawn;
    detail::draw_rows(now.gradient, m, size, drawn);
    return drawn;
}

softmax<> softmax_of(std::size_t m, std::size_t d, std::uint64_t seed, std::size_t classes) {
    return {rows(m, d, seed, classes), 0.1};
}

void is_unbiased(auto const& f, std::size_t batch) {
    auto const d = f.dimension();
    saga<> e(batch);
    round_of(e, f, round_context{}, point(d, 2), point(d, 3));
    for (std::uint64_t round = 0; round < 6; ++round)  // a table of many points
        round_of(e, f, round_context::of({4}, round, 0, 1), point(d, 3 + round), point(d, 4 + round));
    moments const found(e, f, all_draws(f.samples(), batch), point(d, 90));
    CHECK(distance(found.mean, gradient_of(f, point(d, 90))) < 1e-14);
    CHECK(found.variance > 1e-4);
}

void keeps_its_mean(auto const& f, std::size_t batch) {
    auto const d = f.dimension();
    saga<> e(batch);
    for (std::uint64_t round = 0; round < 1000; ++round)
        round_of(e, f, round_context::of({4}, round, 0, 1), point(d, round), point(d, round + 1));
    CHECK(distance(e.mean(), mean_of_table(e, f)) < 1e-12);
}

TEST_CASE("the first round is exact and fills the table") {
    auto const f = logistic_of(6, 4, 1);
    auto const x = point(4, 2);
    saga<> e(2);
    CHECK(e.table().empty());
    CHECK(round_of(e, f, round_context{}, x, point(4, 3)) == gradient_of(f, x));
    for (std::size_t j = 0; j < 6; ++j) CHECK(kept_for(e, f, j) == slopes_of(f, j, x));
    CHECK(distance(e.mean(), mean_of_table(e, f)) < 1e-15);
    auto with_penalty = vec(e.mean().begin(), e.mean().end());
    f.add_penalty_gradient(std::span<double const>(x), std::span<double>(with_penalty));
    CHECK(distance(with_penalty, gradient_of(f, x)) < 1e-15);
}

TEST_CASE("unbiased whatever the table holds, over all rows that may be drawn, with one output or several") {
    is_unbiased(logistic_of(5, 4, 1), 1);
    is_unbiased(logistic_of(5, 4, 1), 2);
    is_unbiased(softmax_of(4, 3, 1, 3), 1);
    is_unbiased(softmax_of(4, 3, 1, 3), 3);
}

TEST_CASE("the table by hand: the drawn rows' slopes at the iterate of the round are kept, the others stay") {
    auto const f = softmax_of(5, 2, 7, 3);
    auto const x0 = point(6, 0), x1 = point(6, 1), x2 = point(6, 2);
    saga<> e(2);
    round_of(e, f, round_context{}, x0, x1);
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        auto const now = round_context::of({seed}, 1, 0, 1);
        auto mine = e;
        auto const g = round_of(mine, f, now, x1, x2);
        auto const drawn = drawn_in(now, 5, 2);
        vec expected(6);
        f.add_penalty_gradient(std::span<double const>(x1), std::span<double>(expected));
        for (std::size_t j = 0; j < 5; ++j) {  // (1/2) sum over the drawn of (new - old) + the mean of the old
            auto const times = static_cast<double>(std::count(drawn.begin(), drawn.end(), j));
            auto const here = slopes_of(f, j, x1), before = slopes_of(f, j, x0);
            CHECK(kept_for(mine, f, j) == (times > 0 ? here : before));
            f.add_row(j, std::span<double const>(here), times / 2, std::span<double>(expected));
            f.add_row(j, std::span<double const>(before), .2 - times / 2, std::span<double>(expected));
        }
        CHECK(distance(g, expected) < 1e-15);
        CHECK(distance(mine.mean(), mean_of_table(mine, f)) < 1e-15);
    }
}

TEST_CASE("the mean stays the table's, row drawn twice or not") {
    keeps_its_mean(logistic_of(7, 5, 3), 1);
    keeps_its_mean(logistic_of(3, 5, 3), 4);
    keeps_its_mean(softmax_of(6, 4, 3, 3), 2);
}

TEST_CASE("a round that is not sent changes nothing, however often it is computed") {
    auto const f = logistic_of(6, 3, 5);
    saga<> e(2);
    estimated(e, f, round_context{}, point(3, 9));
    CHECK(e.table().empty());
    round_of(e, f, round_context{}, point(3, 0), point(3, 1));
    vec const table(e.table().begin(), e.table().end()), mean(e.mean().begin(), e.mean().end());
    auto const now = round_context::of({1}, 1, 0, 1);
    auto const once = estimated(e, f, now, point(3, 1));
    CHECK(estimated(e, f, now, point(3, 1)) == once);
    estimated(e, f, round_context::of({2}, 1, 0, 1), point(3, 2));
    CHECK(distance(e.table(), table) == 0);
    CHECK(distance(e.mean(), mean) == 0);
    round_of(e, f, now, point(3, 1), point(3, 2));
    auto const drawn = drawn_in(now, 6, 2);
    for (std::size_t j = 0; j < 6; ++j)  // the round that was sent counts
        CHECK((kept_for(e, f, j) == slopes_of(f, j, point(3, 1))) == (std::count(drawn.begin(), drawn.end(), j) > 0));
}

TEST_CASE("wrong arguments are refused with the reason, and its text has the right ones") {
    CHECK_THROWS_WITH_AS(saga<>(0), "saga: a batch of 0 rows", argument_error);
    auto const f = logistic_of(5, 3, 2), longer = logistic_of(6, 3, 2);
    saga<> e;
    round_of(e, f, round_context{}, point(3, 0), point(3, 0));
    CHECK_THROWS_WITH_AS(estimated(e, longer, round_context{}, point(3, 0)), "saga: the table is of another objective",
                         shape_error);
    CHECK(to_string(saga<>(8)) == "saga(batch=8)");
}

TEST_CASE("its state is all that the next rounds need; with one sample it is the full gradient, of a batch as well") {
    for (std::size_t const batch : {1u, 3u})
        has_a_state_and_is_exact(saga<>(2), logistic_of(6, 3, 5), saga<>(batch), logistic_of(1, 3, 2));
}

// SAGA by blocks is exact at first, unbiased whatever its table holds, and renews one row's drawn blocks a round.

using namespace toys;

static_assert(Estimator<block_saga<>, mean_of_rows> && !Estimator<block_saga<>, quadratic<>>);

vec row_gradient(mean_of_rows const& f, std::size_t j, vec const& x) {
    vec g(x.size());
    f.rows[j].gradient(x, g);
    return g;
}
// The gradient of row j in the table, of d numbers.
vec kept(block_saga<> const& e, std::size_t j, std::size_t d) { return copied(e.table().subspan(j * d, d)); }

TEST_CASE("the first round is exact and fills the table; then one row is renewed, on the blocks of the round") {
    auto const f = random_sums(1, 3, {{1, 2, 3, 4, 5}}, 1, 3)[0];
    rand_block<> const blocks{2, 2};  // two of (0 1), (2 3), (4)
    host on;
    block_saga<> e(blocks);
    vec x{5, 4, 3, 2, 1}, g(5), exact(5);
    auto const run_seed = key{11};
    e(on, f, round_context::of(run_seed, 0, 0, 1), std::span<double const>(x), std::span(g));
    f.gradient(x, exact);
    CHECK(g == exact);
    CHECK(e.table().empty());
    e.update(on, std::span<double const>(x));
    for (std::size_t j = 0; j < 3; ++j) CHECK(kept(e, j, 5) == row_gradient(f, j, x));
    CHECK(distance2(e.mean(), exact) < 1e-28);

    bool every_row[3] = {};
    for (std::uint64_t k = 1; k <= 30; ++k) {
        vec const y{double(k), 1, -1, 2, .5 * double(k)};
        auto const now = round_context::of(run_seed, k, 0, 1);
        auto const row = now.gradient.below(0, 3);
        every_row[row] = true;
        std::vector<vec> const before{kept(e, 0, 5), kept(e, 1, 5), kept(e, 2, 5)};
        vec const mean_before = copied(e.mean());
        auto const fresh = row_gradient(f, row, y);
        e(on, f, now, std::span<double const>(y), std::span(g));
        for (std::size_t i = 0; i < 5; ++i)
            CHECK(g[i] == doctest::Approx(fresh[i] - before[row][i] + mean_before[i]).epsilon(1e-12));
        CHECK(kept(e, row, 5) == before[row]);  // not before it is sent
        e.update(on, std::span<double const>(y));

        detail::message_of<rand_block<>> m;
        blocks.blank(on, 5, now.own, m);
        vec expected = before[row];
        for (auto const place : m.support)
            for (std::size_t i = 2 * place; i < std::min<std::size_t>(2 * place + 2, 5); ++i) expected[i] = fresh[i];
        for (std::size_t j = 0; j < 3; ++j) CHECK(kept(e, j, 5) == (j == row ? expected : before[j]));
        CHECK(distance2(e.mean(), mean_of({kept(e, 0, 5), kept(e, 1, 5), kept(e, 2, 5)})) < 1e-24);
    }
    CHECK((every_row[0] && every_row[1] && every_row[2]));
}

TEST_CASE("it is unbiased: the mean over all rows is the gradient, whatever the table holds") {
    auto const f = random_sums(1, 4, {{1, 2, 3}}, 1, 9)[0];
    host on;
    block_saga<> e(rand_block<>{1, 1});
    vec const start{3, -1, 2}, x{-1, 0, 4};
    vec g(3), exact(3);
    e(on, f, round_context::of(key{1}, 0, 0, 1), std::span<double const>(start), std::span(g));
    e.update(on, std::span<double const>(x));
    f.gradient(x, exact);
    vec mean(3);
    bool drawn[4] = {};
    for (std::uint64_t k = 1; !(drawn[0] && drawn[1] && drawn[2] && drawn[3]); ++k) {
        auto const now = round_context::of(key{1}, k, 0, 1);
        auto const row = now.gradient.below(0, 4);
        if (drawn[row]) continue;
        drawn[row] = true;
        e(on, f, now, std::span<double const>(x), std::span(g));
        for (std::size_t i = 0; i < 3; ++i) mean[i] += g[i] / 4;
    }
    CHECK(distance2(mean, exact) < 1e-26);
}

TEST_CASE("the table of another objective is refused") {
    auto const f = random_sums(1, 4, {{1, 2, 3}}, 1, 9)[0], longer = random_sums(1, 5, {{1, 2, 3}}, 1, 9)[0];
    host on;
    block_saga<> e(rand_block<>{1, 1});
    vec const x{3, -1, 2};
    vec g(3);
    e(on, f, round_context{}, std::span<double const>(x), std::span(g));
    e.update(on, std::span<double const>(x));
    CHECK_THROWS_WITH_AS(e(on, longer, round_context{}, std::span<double const>(x), std::span(g)),
                         "block_saga: the table is of another objective", shape_error);
}
