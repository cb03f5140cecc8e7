// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstddef>
#include <span>

namespace laconic {

/// What one rank hands to the others: a message, or a complaint in place of one (the bytes then say what is wrong). The
/// difference travels with the length, in the engine's envelope.
struct contribution {
    std::span<std::byte const> bytes;
    bool complaint = false;
};

/// How bytes travel between ranks that all run the same lines, as with MPI. Satisfied iff C has
///   rank(), size()     this rank, 0 .. size() - 1, and how many there are;
///   all_gather(mine)   hands `mine` to every rank and waits until every rank's contribution is here; all ranks must
///                      call it, in the same order. Throws comm_error, which names a rank, where one cannot come;
///   gather(root, mine) the same, but only the root gets the contributions;
///   broadcast(root, mine)   hands the root's contribution to every rank; the others' are ignored;
///   from(r)            what rank r handed over in the last of these meetings, on the ranks that got it; valid until the
///                      next one.
template <class C>
concept Communicator = requires(C& comm, contribution mine, int r) {
    { comm.rank() } -> std::same_as<int>;
    { comm.size() } -> std::same_as<int>;
    comm.all_gather(mine);
    comm.gather(r, mine);
    comm.broadcast(r, mine);
    { comm.from(r) } -> std::same_as<contribution>;
};

}  // namespace laconic
