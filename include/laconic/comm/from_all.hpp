// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <type_traits>
#include <vector>

#include "laconic/comm/communicator.hpp"

namespace laconic::detail {

/// What rank r has sent in the last collective call, which must have so many bytes. Throws comm_error where it has not;
/// `what` names it, as in "its weight".
template <Communicator C>
[[gnu::noinline]] std::span<std::byte const> bytes_from(C const& comm, int r, std::size_t length,
                                                        std::string_view what) {
    auto const bytes = comm.from(r).bytes;
    if (bytes.size() != length)
        throw comm_error(r, concat({"rank ", r, " sent ", bytes.size(), " bytes in place of ", what, ", of ", length,
                                    " bytes: all ranks must make the same calls in the same order"}));
    return bytes;
}
/// The same as a value of S.
template <class S, Communicator C>
S value_from(C const& comm, int r, std::string_view what) {
    static_assert(std::is_trivially_copyable_v<S>);
    S theirs;
    std::memcpy(&theirs, bytes_from(comm, r, sizeof theirs, what).data(), sizeof theirs);
    return theirs;
}
/// Sends `mine` to all ranks and calls use(r, theirs) for each rank r, in their order: with what it has sent, as a
/// value of S. A collective call of sizeof(S) bytes from each rank, which allocates nothing. Throws comm_error as
/// above, and what use() throws.
template <class S, Communicator C, class Use>
void from_all(C& comm, S const& mine, std::string_view what, Use use) {
    comm.all_gather({std::as_bytes(std::span(&mine, 1))});
    for (int r = 0; r < comm.size(); ++r) use(r, value_from<S>(comm, r, what));
}

/// The ranks that have this one's color, in the order of their keys, and of equal keys in the order of their ranks. A
/// collective call: one all-gather. Throws argument_error on all ranks where a color is below 0.
template <Communicator C>
[[gnu::cold, gnu::noinline]] std::vector<int> subgroup(C& comm, int color, int key) {
    using pair = std::array<int, 2>;
    std::vector<std::int64_t> same;  // a key above, a rank below: integers sort with less code than pairs
    from_all(comm, pair{color, key}, "its color and key", [&](int r, pair theirs) {
        if (theirs[0] < 0)
            throw argument_error(concat({"rank ", r, " has color ", theirs[0], ": colors are at least 0"}));
        if (theirs[0] == color) same.push_back((std::int64_t{theirs[1]} << 32) | r);
    });
    std::sort(same.begin(), same.end());
    std::vector<int> ranks;
    for (auto const& one : same) ranks.push_back(static_cast<int>(one & 0x7fffffff));
    return ranks;
}

}  // namespace laconic::detail
