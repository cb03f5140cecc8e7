// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstring>
#include <span>
#include <string_view>
#include <type_traits>

#include "laconic/comm/communicator.hpp"
#include "laconic/core/error.hpp"
#include "laconic/core/text.hpp"

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

}  // namespace laconic::detail
