// SPDX-License-Identifier: Apache-2.0
// The share that is sent falls in quarters of the warm-up from 25 % to k, and is never below k.
#include "laconic/adapt/warm_up.hpp"

#include "support/everything.hpp"

static_assert(Level<warm_up, top_k<>> && Level<warm_up, top_k<natural>> && Level<warm_up, rand_k<>, float>);
static_assert(!Level<warm_up, natural>);

// How many of d coordinates are sent in that round.
std::size_t coordinates_sent(warm_up level, std::uint64_t round, std::size_t d) {
    host on;
    top_k c{level.k.value};
    std::vector<double> const x(d, 1.0);
    round_context now;
    now.round = round;
    level.tune(on, c, now, std::span<double const>(x), std::span<double const>(x));
    detail::message_of<top_k<>> m;
    c.check(d);
    c(on, std::span<double const>(x), key{}, m);
    return m.support.size();
}

TEST_CASE("four quarters, then k") {
    warm_up const level{.001, 8};
    std::size_t const known[] = {2500, 2500, 625, 625, 156, 156, 40, 40, 10, 10};
    for (std::uint64_t k = 0; k < 10; ++k) CHECK(coordinates_sent(level, k, 10000) == known[k]);
    CHECK(coordinates_sent(level, 1000000, 10000) == 10);
    // Where the rounds are no multiple of four, the first quarters are not the shorter ones.
    std::size_t const six[] = {2500, 2500, 625, 156, 156, 40, 10};
    for (std::uint64_t k = 0; k < 7; ++k) CHECK(coordinates_sent({.001, 6}, k, 10000) == six[k]);
    CHECK(coordinates_sent({.001, 1}, 0, 10000) == 2500);
}

TEST_CASE("never fewer than k, of counts as of fractions, and at least one") {
    CHECK(coordinates_sent({.1, 8}, 0, 1000) == 250);
    CHECK(coordinates_sent({.1, 8}, 2, 1000) == 100);
    CHECK(coordinates_sent({100, 8}, 2, 1000) == 100);
    CHECK(coordinates_sent({300, 8}, 0, 1000) == 300);
    CHECK(coordinates_sent({1, 8}, 7, 10) == 1);
    CHECK(coordinates_sent({.5, 0}, 0, 10) == 5);
}

TEST_CASE("its text has its arguments") { CHECK(to_string(warm_up{.001, 100}) == "warm_up(0.001, rounds=100)"); }
