// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "laconic/comm/communicator.hpp"
#include "laconic/core/error.hpp"
#include "laconic/core/text.hpp"

namespace laconic::detail {

/// The ranks that have this one's color, in the order of their keys, and of equal keys in the order of their ranks. A
/// collective call: one all-gather. Throws argument_error on all ranks where a color is below 0.
template <Communicator C>
[[gnu::cold, gnu::noinline]] std::vector<int> subgroup(C& comm, int color, int key) {
    using pair = std::array<int, 2>;
    pair const mine{color, key};
    comm.all_gather({std::as_bytes(std::span(mine))});
    std::vector<std::int64_t> same;  // a key above, a rank below: integers sort with less code than pairs
    for (int r = 0; r < comm.size(); ++r) {
        pair theirs;
        auto const bytes = comm.from(r).bytes;
        if (bytes.size() != sizeof theirs)
            throw comm_error(r, concat({"rank ", r, " made another collective call than split"}));
        std::memcpy(theirs.data(), bytes.data(), sizeof theirs);
        if (theirs[0] < 0)
            throw argument_error(concat({"rank ", r, " has color ", theirs[0], ": colors are at least 0"}));
        if (theirs[0] == color) same.push_back((std::int64_t{theirs[1]} << 32) | r);
    }
    std::sort(same.begin(), same.end());
    std::vector<int> ranks;
    for (auto const& one : same) ranks.push_back(static_cast<int>(one & 0x7fffffff));
    return ranks;
}

}  // namespace laconic::detail
