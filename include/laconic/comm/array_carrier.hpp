// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "laconic/backend/array.hpp"
#include "laconic/comm/communicator.hpp"

namespace laconic {

namespace detail {
struct no_calls {  // nvcc finds no concept satisfied that has a lambda in it
    void operator()() const {}
};
}  // namespace detail

/// A communicator that also carries arrays in the memory of a backend that the host cannot reach, from where they are
/// to where they go, in the order of the backend's kernels: nobody waits for them. Satisfied iff C also has
///   together(calls)          calls calls(), and starts what it carries at the same time; within it
///   spread(root, mine, theirs)   `mine` of rank `root` goes to `theirs` on all ranks, that one included;
///   send(to, mine), receive(from, theirs)   pair up, in the order of their calls;
///   require_stream_of(on)    throws argument_error where `on` does not run its kernels in that order.
/// All ranks call together() right after the same meeting, with the same calls of spread() in the same order, and the
/// spans that go together are as long as one another: who needs to learn lengths learns them in that meeting. What is
/// carried must stay as it is until it is done, as for a kernel.
template <class C, class B>
concept ArrayCarrier = Communicator<C> && !OnHost<B> &&
                       requires(C & comm, B& on, std::span<float const> mine, std::span<float> theirs, int r) {
    comm.require_stream_of(on);
    comm.together(detail::no_calls{});
    comm.spread(r, mine, theirs);
    comm.send(r, mine);
    comm.receive(r, theirs);
};

}  // namespace laconic
