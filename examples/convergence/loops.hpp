// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "laconic/comm/fibers.hpp"
#include "laconic/objective/objective.hpp"
#include "toy.hpp"

namespace convergence {

/// What the ranks hold after so many rounds: x_i, and what was asked for besides, which is empty before the first.
struct models {
    std::vector<vec> x, more;
};

/// The loop of a method that has start(), on every rank as a fiber of this thread. x^0 has every rank's start, element
/// k of the result is after k rounds, and more(loop, vec&) gives what is asked for besides.
template <class Method, class Objective, class More = nothing_more>
std::vector<models> run_loops(Method const& method, std::vector<Objective> const& of, std::vector<vec> const& start,
                              std::size_t rounds, std::uint64_t seed, More more = {}) {
    auto const n = of.size();
    std::vector<models> all(rounds + 1, {std::vector<vec>(n), std::vector<vec>(n)});
    laconic::fibers::run(static_cast<int>(n), [&](laconic::fibers::member& comm) {
        auto const i = static_cast<std::size_t>(comm.rank());
        auto x = all[0].x[i] = start[i];
        auto loop = method.template start<double>(laconic::problem{}, of[i], comm, std::span<double>(x), seed);
        for (std::size_t k = 1; k <= rounds; ++k) {
            loop.round();
            all[k].x[i] = x;
            more(loop, all[k].more[i]);
        }
    });
    return all;
}
/// On a toy, from its start.
template <class Method, class More = nothing_more>
std::vector<models> run_loops(Method const& method, toy const& on, std::size_t rounds, std::uint64_t seed,
                              More more = {}) {
    return run_loops(method, on.workers, std::vector<vec>(on.workers.size(), on.start), rounds, seed, more);
}

}  // namespace convergence
