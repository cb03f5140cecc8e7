// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "laconic/collective/agreement.hpp"
#include "laconic/comm/communicator.hpp"
#include "laconic/core/error.hpp"
#include "laconic/core/text.hpp"
#include "laconic/reduction/node_error.hpp"

/// How the ranks of all nodes exchange what is wrong on one of them, so that no rank goes on alone.
namespace laconic::detail {

inline std::string text_of(std::exception_ptr failed) {
    try {
        std::rethrow_exception(failed);
    } catch (std::exception const& e) {
        return e.what();
    } catch (...) {
        return "an exception that is no std::exception";
    }
}

/// The first error of a node's ranks, on all of them. An all-gather.
template <Communicator C>
std::optional<node_error> first_error(C& comm, std::optional<node_error> const& mine) {
    std::string const why = mine ? mine->text() : std::string();
    comm.all_gather({std::as_bytes(std::span(why)), mine.has_value()});
    for (int r = 0; r < comm.size(); ++r)
        if (auto const theirs = comm.from(r); theirs.is_error) return node_error::read(theirs.bytes, r);
    return {};
}
/// The same of all ranks of all nodes, in the order of their numbers.
template <Communicator Inside, Communicator A>
std::optional<node_error> first_error(Inside& inside, A& across, std::optional<node_error> const& mine) {
    return first_error(across, first_error(inside, mine));
}

/// The first rank of all nodes whose items are others than those of the first rank that must have the same: rank 0, or,
/// with `of_shares`, the rank of node 0 with the same number in its node. None where all are alike. Six all-gathers, of
/// 16 bytes each, where they are.
template <Communicator Inside, Communicator A>
std::optional<node_error> first_that_differs(Inside& inside, A& across, agreed_items const& items, bool of_shares) {
    auto const first_has = [&](std::string mine) {
        auto const pass = [&](auto& comm) {
            comm.all_gather({std::as_bytes(std::span(mine))});
            mine = text_of_bytes(comm.from(0).bytes);
        };
        if (!of_shares) pass(inside);
        pass(across);
        return mine;
    };
    int const number = across.rank() * inside.size() + inside.rank();
    auto const compare = [&](std::string const& mine) {
        std::optional<node_error> differs;
        if (auto const first = first_has(mine); first != mine)
            differs =
                node_error::of_agreement(number, first_difference(first, mine, number, of_shares ? inside.rank() : 0));
        return first_error(inside, across, differs);
    };
    if (!compare(digest(std::as_bytes(std::span(items.lines()))))) return {};
    return compare(items.lines());
}

/// Returns the note of rank 0 of node 0. Throws agreement_error on all ranks of all nodes, with the same text on those
/// of a node, unless all nodes have as many ranks, `across` holds those with the same number, and no rank has an error
/// of its own (`own`). Three all-gathers: a rank's error reaches its node, then the ranks with the same number in other
/// nodes, and then all of their nodes.
template <Communicator Inside, Communicator A>
std::uint64_t require_nodes(Inside& inside, A& across, std::string own, std::uint64_t note = 0) {
    std::string why;
    auto const compare = [&](auto& comm, agreed_items const& mine) {
        std::exception_ptr failed;  // fibers must not communicate while they handle an exception
        try {
            note = require_agreement(comm, mine, note);
        } catch (agreement_error const&) {
            failed = std::current_exception();
        }
        if (failed && why.empty()) why = text_of(failed);
    };
    compare(inside, {{"the number of a node", across.rank()}, {"the number of nodes", across.size()}});
    if (!own.empty()) why = std::move(own);
    compare(across, {{"the ranks of a node", inside.size()},
                     {"a rank's number in its node", inside.rank()},
                     {"what is wrong in a node", why.empty() ? std::string_view("nothing") : why}});
    inside.all_gather({std::as_bytes(std::span(why)), !why.empty()});
    for (int r = 0; r < inside.size(); ++r)
        if (auto const theirs = inside.from(r); theirs.is_error)
            throw agreement_error(-1, std::string(text_of_bytes(theirs.bytes)));
    return note;
}

}  // namespace laconic::detail
