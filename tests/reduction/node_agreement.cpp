// SPDX-License-Identifier: Apache-2.0
// What is wrong on one rank of one node is an error on all ranks of all nodes.
#include "laconic/reduction/node_agreement.hpp"

#include <exception>

#include "laconic/comm/fibers.hpp"
#include "support/test.hpp"

using namespace laconic;

namespace {

// The error that each of n ranks, so many a node, throws.
std::vector<std::string> errors_of(int n, int per_node, auto items, auto own, bool of_shares = false) {
    std::vector<std::string> all(static_cast<std::size_t>(n));
    fibers::run(n, [&](fibers::member& comm) {
        auto inside = comm.split(comm.rank() / per_node, 0), across = comm.split(comm.rank() % per_node, 0);
        auto const note = std::uint64_t(comm.rank() + 5);
        try {
            auto const of_0 = detail::require_nodes(inside, across, own(comm.rank()), note);
            CHECK(of_0 == 5);
            if (auto const wrong = detail::first_that_differs(inside, across, items(comm.rank()), of_shares))
                wrong->raise(0);
        } catch (agreement_error const& e) {
            all[static_cast<std::size_t>(comm.rank())] = e.what();
        }
    });
    return all;
}
auto const alike = [](int) { return agreed_items{{"a size", "3"}}; };
auto const nothing = [](int) { return std::string(); };

}  // namespace

TEST_CASE("what is wrong on one rank of one node is known on all ranks of all nodes") {
    for (auto const& text : errors_of(6, 3, alike, nothing)) CHECK(text.empty());
    for (int const culprit : {0, 1, 5}) {
        CAPTURE(culprit);
        auto const other = [&](int r) { return agreed_items{{"a size", r == culprit ? "4" : "3"}}; };
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
        auto const own = [&](int r) { return r == culprit ? std::string("it has no share") : std::string(); };
        for (auto const& text : errors_of(6, 3, alike, own)) CHECK(text.find("it has no share") != text.npos);
    }
    for (auto const& text : errors_of(5, 2, alike, nothing)) CHECK_FALSE(text.empty());  // the last node has one rank
}

TEST_CASE("shares may differ within a node, and what the ranks have otherwise may not") {
    auto const by_number = [](int r) { return agreed_items{{"a size", r % 3}}; };
    for (auto const& text : errors_of(6, 3, by_number, nothing, true)) CHECK(text.empty());
    for (auto const& text : errors_of(6, 3, by_number, nothing))
        CHECK(text == "ranks disagree: rank 0 has \"a size: 0\", rank 1 has \"a size: 1\"");
}

TEST_CASE("the first error of all ranks is known to all of a node, or of all nodes, with its type") {
    for (int const first : {0, 1, 3})
        fibers::run(4, [&](fibers::member& comm) {
            auto inside = comm.split(comm.rank() / 2, 0), across = comm.split(comm.rank() % 2, 0);
            std::optional<detail::node_error> mine;
            if (comm.rank() >= first)
                mine = detail::node_error::of_arguments(std::make_exception_ptr(argument_error("no room")), comm.rank(),
                                                        [](int r) { return r; });
            auto const all = detail::first_error(inside, across, mine);
            REQUIRE(all);
            CHECK_THROWS_WITH_AS(all->raise(0), ("rank " + std::to_string(first) + ": no room").c_str(),
                                 argument_error);
            auto const in_node = detail::first_error(inside, mine);
            CHECK(in_node.has_value() == (comm.rank() / 2 >= first / 2));
            CHECK_FALSE(detail::first_error(inside, across, {}));
        });
}
