// SPDX-License-Identifier: Apache-2.0
// Keys of different ranks, rounds, seeds and purposes differ, and the shared ones are the same on all ranks.
#include "laconic/core/round_context.hpp"

#include "support/everything.hpp"

constexpr auto at_compile_time = round_context::of({7}, 3, 1, 4);
static_assert(at_compile_time.round == 3 && at_compile_time.own == key{7}.child(3).child(1));

TEST_CASE("keys of different purposes, ranks, rounds and seeds all differ; what is shared is shared") {
    for (int const ranks : {1, 2, 3, 10}) {
        CAPTURE(ranks);
        std::set<key> all;
        std::size_t expected = 0;
        for (std::uint64_t seed = 0; seed < 3; ++seed)
            for (std::uint64_t round : {0u, 1u, 2u, 1000u}) {
                auto const first = round_context::of({seed}, round, 0, ranks);
                for (int r = 0; r < ranks; ++r) {
                    auto const now = round_context::of({seed}, round, r, ranks);
                    CHECK(now.round == round);
                    CHECK(now.shared == first.shared);
                    CHECK(now.answer == first.answer);
                    all.insert({now.own, now.gradient});
                    expected += 2;
                }
                all.insert({first.shared, first.answer});
                expected += 2;
            }
        CHECK(all.size() == expected);
    }
}

TEST_CASE("a rank's own key does not depend on how many there are: the round's child of its number") {
    for (int r = 0; r < 5; ++r) {
        auto const expected = key{9}.child(6).child(static_cast<std::uint64_t>(r));
        CHECK(round_context::of({9}, 6, r, 5).own == expected);
        CHECK(round_context::of({9}, 6, r, 50).own == expected);
        CHECK(round_context::own_of({9}, 6, r) == expected);
    }
}

using laconic::detail::correlated;

TEST_CASE("correlated ranks share what is rounded by, in an order that is drawn, and have their own of all else") {
    for (int const n : {1, 2, 3, 5, 64, 1000})
        for (std::uint64_t s = 0; s < 3; ++s) {
            key const shared{s};
            std::set<int> turns, expected;
            for (int r = 0; r < n; ++r) {
                auto const k = correlated(key{100}.child(std::uint64_t(r)), shared, r, n);
                CHECK(k.bits == key{100}.child(std::uint64_t(r)).bits);
                CHECK(k.common == correlated({}, shared).common);
                turns.insert(k.turn);
                expected.insert(65536 * r / n);
            }
            CHECK(turns == expected);
        }
    CHECK(correlated({}, {1}).common != correlated({}, {2}).common);
    CHECK(correlated({}, {1}).turn == 0);
}

TEST_CASE("all orders of four ranks are equally likely: chi-square") {
    double const draws = 24000;
    std::map<std::vector<int>, double> count;
    for (std::uint64_t s = 0; s < 24000; ++s) {
        std::vector<int> order;
        for (int r = 0; r < 4; ++r) order.push_back(correlated({}, key{3}.child(s), r, 4).turn);
        count[order] += 1;
    }
    double chi = 0;
    for (auto const& [order, c] : count) chi += (c - draws / 24) * (c - draws / 24) / (draws / 24);
    CHECK(count.size() == 24);
    CHECK(std::abs(chi - 23) < 5 * std::sqrt(2 * 23.));
}

// Up where the threshold and x, the way to the upper of two levels that are 1 apart, make 1; all thresholds of a rank.
std::vector<int> levels_at(double x, int turn) {
    std::vector<int> up(65536);
    for (int u = 0; u < 65536; ++u) up[std::size_t(u)] = (u + turn) % 65536 / 65536. + x >= 1;
    return up;
}
// The variance of the mean, over all thresholds and all orders of the ranks.
double variance_of_mean(std::vector<double> const& x) {
    auto const n = x.size();
    std::vector<std::vector<std::vector<int>>> up(n);
    std::vector<std::size_t> order;
    for (std::size_t i = 0; i < n; ++i) {
        order.push_back(i);
        for (std::size_t p = 0; p < n; ++p) up[i].push_back(levels_at(x[i], int(65536 * p / n)));
    }
    double sum = 0, squares = 0, count = 0;
    do {
        for (std::size_t u = 0; u < 65536; u += 16) {
            int all = 0;
            for (std::size_t i = 0; i < n; ++i) all += up[i][order[i]][u];
            sum += all, squares += all * all, count += double(n * n);
        }
    } while (std::next_permutation(order.begin(), order.end()));
    double const mean = sum / count * double(n);
    return squares / count - mean * mean;
}

TEST_CASE("the variance of the mean: of like numbers f (1 - f) / n^2, of any at most 4/3 of independent ranks'") {
    CHECK(variance_of_mean({.3, .3, .3, .3}) == doctest::Approx(.01).epsilon(.01).scale(0));
    CHECK(variance_of_mean({.5, .5, .5, .5}) == 0);
    CHECK(variance_of_mean({.25, .75}) == doctest::Approx(.125));  // independent: .09375
    for (std::size_t const n : {2u, 3u, 4u})
        for (std::uint64_t t = 0; t < 40; ++t) {
            std::vector<double> x;
            double independent = 0;
            for (std::size_t i = 0; i < n; ++i) {
                x.push_back(double(1 + key{t}.below(i, 23)) / 24);
                independent += x[i] * (1 - x[i]) / double(n * n);
            }
            CHECK(variance_of_mean(x) <= independent * (n == 2 ? 1.3334 : 1.22));
        }
}
