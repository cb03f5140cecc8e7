// SPDX-License-Identifier: Apache-2.0
// The energy of radios by hand, in both conventions, and the saving that the specification computes.
#include "laconic/comm/radio.hpp"

#include "support/everything.hpp"

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

TEST_CASE("the authors' units") {
    CHECK(units_of_star(10 * 5534, 5534) == 60874);  // gradient descent on Body Fat
    CHECK(units_of_star(733, 5320) == 6053);         // LAG-WK
    CHECK_THROWS_AS(radio{}.chain(std::vector<position>(1), std::vector<int>{0}, 1, radio_pays::each_link_once),
                    argument_error);
}
