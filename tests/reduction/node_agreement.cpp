// SPDX-License-Identifier: Apache-2.0
// What is wrong on one rank of one node is an error on all ranks of all nodes.
#include "laconic/reduction/node_agreement.hpp"

#include <doctest/doctest.h>

#include <stdexcept>
#include <string>
#include <vector>

#include "laconic/comm/fibers.hpp"

using namespace laconic;

namespace {

// The error that each of n ranks, so many a node, throws.
std::vector<std::string> errors_of(int n, int per_node, auto items, auto own) {
    std::vector<std::string> all(static_cast<std::size_t>(n));
    fibers::run(n, [&](fibers::member& comm) {
        auto inside = comm.split(comm.rank() / per_node, 0), across = comm.split(comm.rank() % per_node, 0);
        try {
            detail::compare_nodes(inside, across, items(comm.rank()), own(comm.rank()));
        } catch (shape_error const& e) {
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
        for (auto const& text : errors_of(6, 3, other, nothing)) CHECK(text.find("a size: 4") != text.npos);
        auto const own = [&](int r) { return r == culprit ? std::string("it has no share") : std::string(); };
        for (auto const& text : errors_of(6, 3, alike, own)) CHECK(text.find("it has no share") != text.npos);
    }
    for (auto const& text : errors_of(5, 2, alike, nothing)) CHECK_FALSE(text.empty());  // the last node has one rank
}

TEST_CASE("where a rank of a node fails, all of the node throw") {
    fibers::run(3, [](fibers::member& comm) {
        detail::throw_together(comm, nullptr, 6);
        auto const failed = comm.rank() == 1 ? std::make_exception_ptr(std::runtime_error("no room")) : nullptr;
        if (comm.rank() == 1)
            CHECK_THROWS_WITH_AS(detail::throw_together(comm, failed, 6), "no room", std::runtime_error);
        else
            CHECK_THROWS_WITH_AS(detail::throw_together(comm, failed, 6), "rank 7: no room", argument_error);
    });
}
