// SPDX-License-Identifier: Apache-2.0
// What is wrong on one rank of one node is an error on all ranks of all nodes.
#include "laconic/reduction/node_agreement.hpp"

#include "laconic/comm/fibers.hpp"
#include "support/everything.hpp"

// The error that each of n ranks, so many a node, throws.
std::vector<std::string> errors_of(int n, int per_node, auto items, auto own, bool of_shares = false) {
    std::vector<std::string> all(static_cast<std::size_t>(n));
    fibers::run(n, [&](fibers::member& comm) {
        auto inside = comm.split(comm.rank() / per_node, 0), across = comm.split(comm.rank() % per_node, 0);
        auto const note = std::uint64_t(comm.rank() + 5);
        try {
            auto const of_0 = detail::require_nodes(inside, across, own(comm.rank()), note);
            CHECK(of_0 == 5);
            detail::first_that_differs(inside, across, items(comm.rank()), of_shares).raise();
        } catch (agreement_error const& e) {
            all[static_cast<std::size_t>(comm.rank())] = e.what();
        }
    });
    return all;
}
auto const alike = [](int) { return detail::agreed_items{{"a size", "3"}}; };
auto const nothing = [](int) { return detail::failure(); };

TEST_CASE("what is wrong on one rank of one node is known on all ranks of all nodes") {
    for (auto const& text : errors_of(6, 3, alike, nothing)) CHECK(text.empty());
    for (int const culprit : {0, 1, 5}) {
        CAPTURE(culprit);
        auto const other = [&](int r) { return detail::agreed_items{{"a size", r == culprit ? "4" : "3"}}; };
        for (bool const of_shares : {false, true}) {
            int const first = of_shares ? culprit % 3 : 0;
            for (auto const& text : errors_of(6, 3, other, nothing, of_shares))
                CHECK(text == (culprit < 3 && of_shares
                                   ? detail::concat({"ranks disagree: rank ", culprit, " has \"a size: 4\", rank ",
                                                     culprit + 3, " has \"a size: 3\""})
                               : culprit == 0
                                   ? "ranks disagree: rank 0 has \"a size: 4\", rank 1 has \"a size: 3\""
                                   : detail::concat({"ranks disagree: rank ", first, " has \"a size: 3\", rank ",
                                                     culprit, " has \"a size: 4\""})));
        }
        auto const own = [&](int r) {
            return r == culprit ? detail::failure{.kind = detail::failure_kind::agreement,
                                                  .rank = r,
                                                  .why = "rank \1 has no share"}
                                : detail::failure();
        };
        for (auto const& text : errors_of(6, 3, alike, own))
            CHECK(text == "rank " + std::to_string(culprit) + " has no share");
    }
    // The last node has one rank.
    for (auto const& text : errors_of(5, 2, alike, nothing))
        CHECK(text == "ranks disagree: rank 0 has \"the number of nodes: 3\", rank 1 has \"the number of nodes: 2\"");
}

TEST_CASE("shares may differ within a node, and what the ranks have otherwise may not") {
    auto const by_number = [](int r) { return detail::agreed_items{{"a size", r % 3}}; };
    for (auto const& text : errors_of(6, 3, by_number, nothing, true)) CHECK(text.empty());
    for (auto const& text : errors_of(6, 3, by_number, nothing))
        CHECK(text == "ranks disagree: rank 0 has \"a size: 0\", rank 1 has \"a size: 1\"");
}

TEST_CASE("what is thrown on any rank of any node is thrown by all, with its type and that rank's number") {
    for (int const first : {0, 1, 3, 4})
        fibers::run(4, [&](fibers::member& comm) {
            auto inside = comm.split(comm.rank() / 2, 0), across = comm.split(comm.rank() % 2, 0);
            auto const all = detail::failure_of_all(inside, across, [&] {
                if (comm.rank() >= first) throw argument_error("no room");
            });
            if (first == 4) {
                CHECK_FALSE(all);
                return;
            }
            CHECK_THROWS_WITH_AS(all.raise(), ("rank " + std::to_string(first) + ": no room").c_str(), argument_error);
        });
}

TEST_CASE("what forbids two ranks of a node to take a step together") {
    detail::whole_step const one{1, 5, 0, 9};
    CHECK_FALSE(one.unlike({2, 5, 0, 9}, 3, 2));
    CHECK_THROWS_WITH_AS(one.unlike({1, 6, 0, 9}, 3, 2).raise(), "rank 3 has taken 5 steps, rank 2 6", agreement_error);
    CHECK_THROWS_WITH_AS(one.unlike({1, 5, 1, 9}, 3, 2).raise(), "rank 3: step 5 is not dense, unlike on rank 2",
                         agreement_error);
    CHECK_THROWS_WITH_AS(one.unlike({1, 5, 0, 8}, 3, 2).raise(),
                         "rank 3 has another step size, loss scale or type of numbers than rank 2", agreement_error);
}
