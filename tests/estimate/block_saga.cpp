// SPDX-License-Identifier: Apache-2.0
// SAGA by blocks is exact at first, unbiased whatever its table holds, and renews one row's drawn blocks a round.
#include "laconic/estimate/block_saga.hpp"

#include "support/everything.hpp"
#include "support/sums.hpp"

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
