// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "laconic/backend/array.hpp"
#include "laconic/comm/communicator.hpp"

namespace laconic::detail {

/// A communicator that also carries arrays in the memory of a backend that the host cannot reach, from device to
/// device, in the order of the backend's kernels; no call waits for the transfer. Satisfied iff C also has
///   together(calls)          calls calls(), and starts all transfers in it at the same time; within it
///   spread(root, mine, theirs)   `mine` of rank `root` goes to `theirs` on all ranks, that one included;
///   send(to, mine), receive(from, theirs)   pair up, in the order of their calls;
///   require_stream_of(on)    throws argument_error where `on` does not run its kernels in that order.
/// All ranks call together() right after the same collective call, with the same calls of spread() in the same order,
/// and the spans of one transfer have one length: ranks that need to exchange lengths do so in that collective call.
/// The arrays must stay as they are until the transfer is done, as for a kernel.
template <class C>
concept CarriesArrays = Communicator<C> &&
    requires(C& comm, std::span<float const> mine, std::span<float> theirs, int r) {
    comm.together(detail::no_calls{});
    comm.spread(r, mine, theirs);
    comm.send(r, mine);
    comm.receive(r, theirs);
};
template <class C, class B>
concept ArrayCarrier = CarriesArrays<C> && !OnHost<B> && requires(C & comm, B& on) {
    comm.require_stream_of(on);
};

}  // namespace laconic::detail
