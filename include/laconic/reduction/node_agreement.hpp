// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <exception>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "laconic/collective/agreement.hpp"
#include "laconic/comm/communicator.hpp"
#include "laconic/core/error.hpp"
#include "laconic/core/text.hpp"

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

/// Where a rank of the node has failed, throws on all of them: there its own exception, elsewhere argument_error with
/// its text. `first` is the number of the node's first rank.
template <Communicator Inside>
void throw_together(Inside& inside, std::exception_ptr failed, int first) {
    std::string const why = failed ? text_of(failed) : std::string();
    inside.all_gather({std::as_bytes(std::span(why)), failed != nullptr});
    if (failed) std::rethrow_exception(failed);
    for (int r = 0; r < inside.size(); ++r)
        if (auto const theirs = inside.from(r); theirs.is_error)
            throw argument_error(concat({"rank ", first + r, ": ", text_of_bytes(theirs.bytes)}));
}

/// Throws shape_error on all ranks of all nodes, with the same text on those of a node, unless the ranks of each node
/// have the same items, all nodes have as many ranks, `across` holds those with the same number, and no rank has an
/// error of its own (`own`). Three all-gathers: a rank's error reaches its node, then the ranks with the same number in
/// other nodes, and then all of their nodes.
template <Communicator Inside, Communicator A>
void compare_nodes(Inside& inside, A& across, agreed_items const& items, std::string own) {
    std::string why;
    auto const compare = [&](auto& comm, agreed_items const& mine) {
        std::exception_ptr failed;  // fibers must not communicate while they handle an exception
        try {
            require_agreement(comm, mine);
        } catch (shape_error const&) {
            failed = std::current_exception();
        }
        if (failed && why.empty()) why = text_of(failed);
    };
    compare(inside, items);
    if (!own.empty()) why = std::move(own);
    compare(across, {{"the ranks of a node", inside.size()},
                     {"a rank's number in its node", inside.rank()},
                     {"what is wrong in a node", why.empty() ? std::string_view("nothing") : why}});
    inside.all_gather({std::as_bytes(std::span(why)), !why.empty()});
    for (int r = 0; r < inside.size(); ++r)
        if (auto const theirs = inside.from(r); theirs.is_error)
            throw shape_error(std::string(text_of_bytes(theirs.bytes)));
}

}  // namespace laconic::detail
