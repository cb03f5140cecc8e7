// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <utility>

#include "laconic/comm/communicator.hpp"
#include "laconic/message/message.hpp"
#include "laconic/wire/by_host.hpp"
#include "laconic/wire/failure.hpp"
#include "laconic/wire/stream.hpp"

/// How the messages of all ranks are written, sent and read, whichever ranks read them.
namespace laconic::detail {

/// The payload that is the message m about d numbers of T, written to `sink`.
template <Scalar T, class M, class B>
payload written(wire::bit_writer& sink, std::size_t d, wire::by_host<M, B>& encoding, B& on, M const& m) {
    sink.reserve(d * (sizeof(T) + 1) + 64);  // for numbers in full, once: a later message may be longer than the first
    sink.clear();
    encoding.write_message(sink, on, m);
    return {sink.finish(), false};
}

/// An all-gather in two halves, over a communicator that is Overlapping; else the first waits for all.
template <Communicator C>
void start_all_gather(C& comm, payload mine, [[maybe_unused]] int lane) {
    if constexpr (Overlapping<C>)
        comm.start_all_gather(mine, lane);
    else
        comm.all_gather(mine);
}
template <Communicator C>
void finish_all_gather([[maybe_unused]] C& comm, [[maybe_unused]] int lane) {
    if constexpr (Overlapping<C>) comm.finish(lane);
}

/// Reads what rank r sent in the last collective call; throws wire_error, which names the rank.
template <class B, Communicator C, class M, class Blank>
void read_from(B& on, C& comm, int r, Blank blank, wire::by_host<M, B>& encoding, M& m) {
    wire::bit_reader source(comm.from(r).bytes);
    try {
        encoding.read_message(
            source, [&](auto& there, auto& known) { blank(there, r, known); }, on, m);
        source.finish();
    } catch (wire_error const& e) {
        failure::unreadable(r, e.bit, e.why).raise();
    }
}

/// use(r, m) for what every rank sent in the last collective call, read into `theirs`, in the order of ranks.
template <class B, Communicator C, class M, class Blank, class Use>
void each_message(B& on, C& comm, Blank blank, wire::by_host<M, B>& encoding, M& theirs, Use use) {
    for (int r = 0; r < comm.size(); ++r) {
        read_from(on, comm, r, blank, encoding, theirs);
        use(r, std::as_const(theirs));
    }
}

/// The function use(r, m) for each_message() that adds m / ranks to `out`.
template <class B, Scalar T>
auto adding_mean(B& on, int ranks, std::span<T> out) {
    return [&on, out, share = T(1) / static_cast<T>(ranks)](int, auto const& m) { add_message(on, out, share, m); };
}

}  // namespace laconic::detail
