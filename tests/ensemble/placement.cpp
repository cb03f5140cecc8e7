// SPDX-License-Identifier: Apache-2.0
// T4.1: the table of TensorFlow's adanet, rank by rank.
#include "laconic/ensemble/placement.hpp"

#include "support/everything.hpp"

using namespace laconic;

constexpr auto whole = placement_strategy::round_robin, drop = placement_strategy::round_robin_drop,
               everywhere = placement_strategy::replication;

// For each rank: E where it builds ensembles, T where it trains, and a 1 for each candidate that it builds.
std::string table(placement const& p) {
    std::string text;
    for (int r = 0; r < p.ranks; ++r) {
        text += r > 0 ? " " : "";
        text += p.builds_ensembles(r) ? 'E' : '-';
        text += p.trains(r) ? 'T' : '-';
        for (int s = 0; s < p.candidates; ++s) text += p.builds(r, s) ? '1' : '0';
    }
    return text;
}

TEST_CASE("T4.1: which rank does what") {
    std::string const four = "E-111 -T100 -T010 -T001";
    CHECK(table({whole, 1, 3}) == "ET111");
    CHECK(table({whole, 2, 3}) == "E-111 -T111");
    CHECK(table({whole, 3, 3}) == "E-111 -T101 -T010");
    CHECK(table({whole, 4, 3}) == four);
    CHECK(table({whole, 5, 3}) == four + " E-111");
    CHECK(table({whole, 6, 3}) == four + " E-111 -T111");
    CHECK(table({whole, 7, 3}) == four + " E-111 -T101 -T010");
    CHECK(table({whole, 8, 3}) == four + " " + four);
    CHECK(table({whole, 2, 5}) == "E-11111 -T11111");

    CHECK(table({drop, 3, 3}) == "E-111 -T100 -T010");
    CHECK(table({drop, 4, 3}) == four);
    CHECK(table({drop, 6, 3}) == four + " E-111 -T100");
    CHECK(table({drop, 2, 5}) == "E-11111 -T10000");

    CHECK(table({whole, 3, 1}) == "ET1 ET1 ET1");
    CHECK(table({everywhere, 3, 2}) == "ET11 ET11 ET11");
}

TEST_CASE("T4.1: of several ranks that train a candidate the first has to") {
    for (int s = 0; s < 3; ++s) {
        CHECK(placement{whole, 1, 3}.trainer(s) == 0);
        CHECK(placement{whole, 2, 3}.trainer(s) == 1);
        CHECK(placement{whole, 3, 3}.trainer(s) == (s == 1 ? 2 : 1));
        for (int const ranks : {4, 5, 6, 7, 8}) CHECK(placement{whole, ranks, 3}.trainer(s) == s + 1);
        CHECK(placement{drop, 3, 3}.trainer(s) == (s == 2 ? no_rank : s + 1));
        CHECK(placement{everywhere, 3, 3}.trainer(s) == 0);
    }
}
