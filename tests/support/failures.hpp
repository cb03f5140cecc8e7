// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "laconic/any/collective.hpp"
#include "laconic/any/communicator.hpp"

/// The table of failures: what may go wrong on one rank, by the ways in which ranks meet, over any engine. Each cell
/// asserts that all ranks throw the same, that it names the rank, that nothing has changed, and that the next step is
/// the one that a run without the failure takes. failures.cpp has the ways, compiled once for all engines.
namespace failures {

using namespace laconic;

constexpr int culprit = 3, victim = 1;  // the rank where it goes wrong; the one whose copy of its bytes is damaged

enum class cause {
    none,
    not_a_number,
    overflow,
    compressor_throws,
    other_length,
    option_out_of_range,
    other_k,
    other_layers,
    other_option,
    other_step_option,
    damaged_for_one,
    damaged_for_all,
    no_theorem
};
/// What all ranks throw; in `text`, # stands for the rank.
struct cause_row {
    cause is;
    char const* name;
    char const* type;
    char const* text;
    bool at_start = false;    ///< the object cannot be made, or its first step not be taken
    bool everywhere = false;  ///< all ranks do it
};
struct subject;
/// One way in which ranks meet: how many, of how many a node (0: there are no nodes), over what, and whether on a
/// thread of its own.
struct way {
    std::string name;
    int ranks, per_node;
    any_collective<double> over;
    bool in_background = false;
    std::function<std::unique_ptr<subject>(any_communicator&, int rank, cause, bool here)> method{};  ///< no reducer
};
std::vector<way> ways();
/// The causes as they show in a way.
std::vector<cause_row> rows(way const& w);

/// How it ends on one rank.
struct ending {
    std::string thrown = "nothing", text;
    bool is_untouched = true, is_same_state = true;
    std::vector<double> next;
};

/// One rank's part in a cell, over its engine as it is, and split into its node and those between nodes.
ending on_line(any_communicator engine, way const& w, cause_row const& row, bool fails);
ending on_nodes(any_communicator within, any_communicator between, int rank, way const& w, cause_row const& row,
                bool fails);
template <class C>
ending on_rank(C& engine, way const& w, cause_row const& row, bool fails) {
    if (w.per_node == 0) return on_line(engine, w, row, fails);
    int const rank = engine.rank();
    auto within = engine.split(rank / w.per_node, 0), between = engine.split(rank % w.per_node, 0);
    return on_nodes(within, between, rank, w, row, fails);
}

/// The complaint about a cell, whose endings run(fails) returns; nothing where it is as it should be.
std::string complaint(way const& w, cause_row const& row, std::string_view engine,
                      std::function<std::vector<ending>(bool fails)> const& run);

}  // namespace failures
