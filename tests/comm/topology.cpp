// SPDX-License-Identifier: Apache-2.0
// Chains from positions, and when a topology changes.
#include "laconic/comm/topology.hpp"

#include "support/everything.hpp"

using ranks = std::vector<int>;

ranks chain_of(chain_by how, std::vector<position> const& at, key from = {}) {
    chain_builder build;
    auto const order = build(how, at, from);
    return {order.begin(), order.end()};
}
bool holds_all(ranks order) {
    std::sort(order.begin(), order.end());
    for (std::size_t i = 0; i < order.size(); ++i)
        if (order[i] != static_cast<int>(i)) return false;
    return true;
}

TEST_CASE("nearest: from rank 0 on, the nearest that is left; of equal distances the lower rank") {
    CHECK(chain_of(chain_by::nearest, {{0, 0}, {9, 0}, {2, 0}, {0, 3}}) == ranks{0, 2, 3, 1});
    CHECK(chain_of(chain_by::nearest, {{0, 0}, {1, 0}, {-1, 0}, {0, 1}}) == ranks{0, 1, 3, 2});
    CHECK(chain_of(chain_by::nearest, {{5, 5}}) == ranks{0});
}

TEST_CASE("greedy: heads and tails alternate, rank 0 is a head, the last rank a tail, the halves are drawn") {
    std::vector<position> at;
    for (std::uint64_t r = 0; r < 8; ++r) at.push_back({key{1}.uniform(2 * r), key{1}.uniform(2 * r + 1)});
    std::set<ranks> all, heads;
    for (std::uint64_t seed = 0; seed < 100; ++seed) {
        auto const order = chain_of(chain_by::greedy, at, key{seed});
        REQUIRE(holds_all(order));
        CHECK(order[0] == 0);
        ranks head;
        for (std::size_t i = 0; i < 8; i += 2) head.push_back(order[i]);
        CHECK(std::count(head.begin(), head.end(), 7) == 0);
        // Each step goes to the nearest of the other side that is left.
        for (std::size_t i = 0; i + 1 < 8; ++i)
            for (std::size_t j = i + 3; j < 8; j += 2) {
                auto const place = [&](std::size_t k) { return at[static_cast<std::size_t>(order[k])]; };
                CHECK(squared_distance(place(i), place(i + 1)) <= squared_distance(place(i), place(j)));
            }
        std::sort(head.begin(), head.end());
        heads.insert(head);
        all.insert(order);
    }
    CHECK(heads.size() == 20);  // 3 of the 6 ranks that are drawn
    CHECK(all.size() == 20);
    at.pop_back();
    for (std::uint64_t seed = 0; seed < 20; ++seed) CHECK(holds_all(chain_of(chain_by::greedy, at, key{seed})));
    CHECK(chain_of(chain_by::greedy, {{0, 0}, {1, 1}}) == ranks{0, 1});
}

TEST_CASE("a new chain comes before each iteration that is a multiple of refresh, counted from 1") {
    graph_schedule schedule({.refresh = 3, .chains = {{0, 1, 2}, {1, 0, 2}}}, 3, key{});
    std::vector<std::uint64_t> eras;
    for (std::uint64_t round = 0; round < 9; ++round) eras.push_back(schedule.era_of(round));
    CHECK(eras == std::vector<std::uint64_t>{0, 0, 1, 1, 1, 2, 2, 2, 3});
    graph g;
    schedule.make(3, g);
    CHECK(g == graph::chain(ranks{1, 0, 2}));
    CHECK(schedule.largest_degree() == 2);

    graph_schedule const fixed({}, 4, key{});
    CHECK(fixed.era_of(1000) == 0);
    CHECK(to_string(fixed) == to_string(graph::chain(4)));
}

TEST_CASE("positions are drawn anew in each era, in a square of 250 m, or given") {
    graph_schedule drawn({.refresh = 1}, 20, key{5}), given({.refresh = 1, .positions = {{1, 2}, {3, 4}}}, 2, key{5});
    auto const one = drawn.positions_of(1);
    std::vector<position> const first(one.begin(), one.end());
    for (auto const p : first) CHECK((p.x >= 0 && p.x < 250 && p.y >= 0 && p.y < 250));
    auto const two = drawn.positions_of(2);
    CHECK(!std::equal(first.begin(), first.end(), two.begin()));
    auto const again = drawn.positions_of(1);
    CHECK(std::equal(first.begin(), first.end(), again.begin()));
    CHECK(given.positions_of(7)[1] == position{3, 4});
}

TEST_CASE("topologies for another number of ranks are refused") {
    auto const make = [](topology const& how) { graph_schedule(how, 4, key{}); };
    CHECK_THROWS_WITH_AS(make({.over = graph::ring(6)}), "a graph of 6 ranks, among 4", argument_error);
    CHECK_THROWS_WITH_AS(make({.refresh = 1, .positions = {{0, 0}}}), "positions of 1 ranks, among 4", argument_error);
    CHECK_THROWS_WITH_AS(make({.refresh = 1, .chains = {{0, 1}}}), "a chain of 2 ranks, among 4", argument_error);
    CHECK_THROWS_AS(make({.refresh = 1, .chains = {{0, 1, 2, 1}}}), argument_error);
    CHECK_THROWS_AS(make({.over = graph::ring(4), .refresh = 1}), argument_error);
    for (double const far : {1e200, std::nan("")})
        CHECK_THROWS_AS(make({.refresh = 1, .positions = {{0, 0}, {far, 0}, {1, 1}, {2, 2}}}), argument_error);
}

TEST_CASE("a chain of three by hand, in both conventions") {
    // 100 m and 50 m; 4/3 MHz each; 192 bits in 1 ms.
    std::vector<position> const at{{0, 0}, {150, 0}, {100, 0}};
    std::vector<int> const order{0, 2, 1};
    double const hertz = 4e6 / 3, cost = 1e-6 * hertz * (std::pow(2, 192e3 / hertz) - 1) * 1e-3;
    CHECK(radio{}.chain(at, order, 192, radio_pays::farthest_neighbour) ==
          doctest::Approx(cost * (100 * 100 + 100 * 100 + 50 * 50)).epsilon(1e-12));
    CHECK(radio{}.chain(at, order, 192, radio_pays::each_link_once) ==
          doctest::Approx(cost * (100 * 100 + 50 * 50)).epsilon(1e-12));
}

TEST_CASE("a star by hand: the server is the rank nearest to the middle") {
    std::vector<position> const at{{0, 0}, {100, 100}, {250, 250}, {125, 100}};
    double const b = 1e6, r = 192e3;  // 2 MHz for half of four ranks
    double up = 0, farthest = 0;
    for (double const away : {125. * 125 + 100 * 100, 25. * 25, 125. * 125 + 150 * 150}) {
        up += .5 * away * 1e-6 * b * (std::pow(2, 2 * r / b) - 1);
        farthest = std::max(farthest, away);
    }
    double const down = 2 * farthest * 1e-6 * b * (std::pow(2, 2 * r / (4 * b)) - 1);
    CHECK(radio{}.star(at, {125, 125}, 192, 192) == doctest::Approx((up + down) * 1e-3).epsilon(1e-12));
}

TEST_CASE("1.9(e): Q-GADMM with 2 bits of 6 numbers takes a 9.2th of GADMM's energy on the same chain of 50") {
    graph_schedule places({.refresh = 1}, 50, key{3});
    auto const at = places.positions_of(1);
    chain_builder chain;
    auto const order = chain(chain_by::nearest, at, key{});
    for (auto const how : {radio_pays::farthest_neighbour, radio_pays::each_link_once})
        CHECK(radio{}.chain(at, order, 32 * 6, how) / radio{}.chain(at, order, 32 + 2 * 6, how) ==
              doctest::Approx(9.218).epsilon(1e-3));
}

TEST_CASE("radios of one rank") {
    CHECK_THROWS_AS(radio{}.chain(std::vector<position>(1), std::vector<int>{0}, 1, radio_pays::each_link_once),
                    argument_error);
}
