// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "laconic/comm/fibers.hpp"
#include "laconic/core/error.hpp"
#include "laconic/core/key.hpp"
#include "laconic/hierarchy.hpp"
#include "support/error_of.hpp"
#include "support/test.hpp"

/// What tests of reducers have in common: gradients, whole steps, errors, and ranks in nodes.
namespace reducing {

using vectors = std::vector<std::vector<float>>;
using states = std::vector<std::vector<std::byte>>;

/// A rank's gradients in that step, of these sizes, with numbers from -1 to 1.
inline vectors gradients(int rank, int step, std::vector<std::size_t> const& sizes) {
    vectors all;
    for (std::size_t l = 0; l < sizes.size(); ++l) {
        auto const k = laconic::key{5}.child(std::uint64_t(rank)).child(std::uint64_t(step)).child(l);
        auto& g = all.emplace_back(sizes[l]);
        for (std::size_t i = 0; i < g.size(); ++i) g[i] = float(2 * k.uniform(i) - 1);
    }
    return all;
}

/// A step of all layers, the last first.
template <class Reducer, class Vectors>
void whole_step(Reducer& reduce, Vectors& g, laconic::step_options const& options = {}) {
    for (std::size_t l = g.size(); l-- > 0;) reduce.start(l, g[l], options);
    reduce.finish();
}

/// error_of body(comm) on n ranks, which is to be the same on all.
template <class Body>
std::string error_of_all(int n, Body body) {
    std::vector<std::string> texts(static_cast<std::size_t>(n));
    laconic::fibers::run(n, [&](laconic::fibers::member& comm) {
        texts[static_cast<std::size_t>(comm.rank())] = error_of([&] { body(comm); });
    });
    for (auto const& text : texts) CHECK(text == texts[0]);
    return texts[0];
}

/// body(nodes, comm) on so many nodes of so many ranks each.
template <class Engine = laconic::fibers, class Body>
void on_nodes(int nodes, int per_node, Body body) {
    Engine::run(nodes * per_node, [&](typename Engine::member& comm) {
        auto inside = comm.split(comm.rank() / per_node, 0), across = comm.split(comm.rank() % per_node, 0);
        laconic::hierarchy both{inside, across};
        body(both, comm);
    });
}
/// body(over, comm) over 4 ranks, and over 2 nodes of 2 ranks.
template <class Body>
void on_ranks_and_nodes(Body body) {
    laconic::fibers::run(4, [&](laconic::fibers::member& comm) { body(comm, comm); });
    on_nodes(2, 2, body);
}

}  // namespace reducing
