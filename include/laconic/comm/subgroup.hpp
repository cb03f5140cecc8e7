// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "laconic/comm/communicator.hpp"
#include "laconic/core/error.hpp"

namespace laconic::detail {

/// The ranks that have this one's color, in the order of their keys, those of equal keys in that of their ranks. All
/// ranks call it: it is one all-gather. Throws argument_error on all ranks where a color is below 0.
template <Communicator C>
std::vector<int> subgroup(C& comm, int color, int key) {
    using place = std::array<int, 2>;
    place const mine{color, key};
    comm.all_gather({std::as_bytes(std::span(mine))});
    std::vector<place> all(static_cast<std::size_t>(comm.size()));
    std::vector<int> same;
    for (int r = 0; r < comm.size(); ++r) {
        auto& theirs = all[static_cast<std::size_t>(r)];
        auto const bytes = comm.from(r).bytes;
        if (bytes.size() != sizeof theirs)
            throw comm_error(r, "rank " + std::to_string(r) + " came to another meeting than that of a split");
        std::memcpy(theirs.data(), bytes.data(), sizeof theirs);
        if (theirs[0] < 0)
            throw argument_error("rank " + std::to_string(r) + " has color " + std::to_string(theirs[0]) +
                                 ": colors are at least 0");
        if (theirs[0] == color) same.push_back(r);
    }
    std::stable_sort(same.begin(), same.end(), [&](int a, int b) {
        return all[static_cast<std::size_t>(a)][1] < all[static_cast<std::size_t>(b)][1];
    });
    return same;
}

}  // namespace laconic::detail
