// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <span>
#include <string>
#include <utility>

#include "laconic/collective/agreement.hpp"
#include "laconic/collective/session.hpp"

/// How the ranks of all nodes exchange what is wrong on one of them, so that no rank goes on alone.
namespace laconic::detail {

/// The number among all ranks of rank r of a node, and of the rank of node r that has this one's number in its node.
auto number_in_node(Communicator auto& inside, Communicator auto& across) {
    return [first = across.rank() * inside.size()](int r) { return first + r; };
}
auto number_across(Communicator auto& inside, Communicator auto&) {
    return [n = inside.size(), me = inside.rank()](int r) { return r * n + me; };
}

/// The least failure of all ranks of all nodes. Two all-gathers.
failure share_failure(Communicator auto& inside, Communicator auto& across, failure const& mine) {
    wire::bit_writer sink;
    return detail::share_failure(inside, detail::share_failure(across, mine, sink), sink);
}
/// What does() throws on any rank of any node, as a failure of all ranks' numbers; see share_failure().
failure failure_of_all(Communicator auto& inside, Communicator auto& across, auto does) {
    failure mine;
    try {
        does();
    } catch (...) {
        mine = failure::of(std::current_exception(), across.rank());
        mine.renumber(number_across(inside, across), [](std::size_t i, std::string const&) { return i; });
    }
    return share_failure(inside, across, mine);
}

/// The first rank of all nodes whose items are others than those of the first rank that must have the same: rank 0, or,
/// with `of_shares`, the rank of node 0 with the same number in its node. None where all are alike. Six all-gathers, of
/// 16 bytes each, where they are.
failure first_that_differs(Communicator auto& inside, Communicator auto& across, agreed_items const& items,
                           bool of_shares) {
    int const me = number_in_node(inside, across)(inside.rank()), other = of_shares ? inside.rank() : 0;
    auto const first_has = [&](std::string mine) {
        auto const pass = [&](auto& comm) {
            comm.all_gather({std::as_bytes(std::span(mine))});
            mine = text_of_bytes(comm.from(0).bytes);
        };
        if (!of_shares) pass(inside);
        pass(across);
        return mine;
    };
    auto const compare = [&](std::string const& mine) {
        auto const first = first_has(mine);
        auto differs = first == mine ? failure() : disagreement_of(first, mine, me, other);
        differs.of_all = true;
        return share_failure(inside, across, differs);
    };
    if (!compare(digest(std::as_bytes(std::span(items.lines()))))) return {};
    return compare(items.lines());
}

/// Returns the note of rank 0 of node 0. Throws the same on all ranks of all nodes: agreement_error unless all nodes
/// have as many ranks and `across` holds those with the same number, and what is wrong on a rank (`own`). Four
/// all-gathers.
std::uint64_t require_nodes(Communicator auto& inside, Communicator auto& across, failure own, std::uint64_t note = 0) {
    auto const compare = [&](auto& comm, auto number, agreed_items const& mine) {
        try {
            note = require_agreement(comm, mine, note);
        } catch (agreement_error const&) {
            auto wrong = failure::of(std::current_exception(), no_rank);
            wrong.renumber(number, [](std::size_t i, std::string const&) { return i; });
            own.take_least(std::move(wrong));
        }
    };
    compare(inside, number_in_node(inside, across),
            {{"the number of a node", across.rank()}, {"the number of nodes", across.size()}});
    compare(across, number_across(inside, across),
            {{"the ranks of a node", inside.size()}, {"a rank's number in its node", inside.rank()}});
    share_failure(inside, across, own).raise();
    return note;
}

/// One rank's part in the comparison of a step over nodes.
struct whole_step {
    double weight;
    std::uint64_t round, dense, options = 0;  // the last: a digest

    /// Why a rank with this step and one with the `other` cannot take it together, if they cannot.
    [[gnu::cold, gnu::noinline]] failure unlike(whole_step const& theirs, int rank, int other) const {
        failure f{.kind = failure_kind::agreement, .of_all = true, .rank = rank, .other = other, .round = round};
        auto const its = failure::its_rank, others = failure::other_rank;
        if (round != theirs.round)
            f.why = concat({"rank ", its, " has taken ", round, " steps, rank ", others, ' ', theirs.round});
        else if (dense != theirs.dense)
            f.why = concat({"rank ", its, ": step ", round, " is ", (theirs.dense != 0 ? "not " : ""),
                            "dense, unlike on rank ", others});
        else if (options != theirs.options)
            f.why = concat({"rank ", its, " has another step size, loss scale or type of numbers than rank ", others});
        else
            return {};
        return f;
    }
};

}  // namespace laconic::detail
