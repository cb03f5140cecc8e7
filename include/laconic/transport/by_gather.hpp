// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <type_traits>
#include <utility>

#include "laconic/backend/host.hpp"
#include "laconic/comm/communicator.hpp"
#include "laconic/core/error.hpp"
#include "laconic/core/text.hpp"
#include "laconic/message/message.hpp"
#include "laconic/transport/message_arrays.hpp"
#include "laconic/transport/shared_mean.hpp"
#include "laconic/wire/by_host.hpp"
#include "laconic/wire/message.hpp"

namespace laconic {

namespace detail {

// Room for numbers in full, once: a later message may be longer than the first.
template <class T>
void make_room(bit_writer& sink, std::size_t d) {
    sink.reserve(d * (sizeof(T) + 1) + 64);
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

/// on_error(r, bytes) for every rank that sent an error frame in the last collective call.
template <Communicator C, class OnError>
void receive_errors(C& comm, OnError on_error) {
    for (int r = 0; r < comm.size(); ++r)
        if (auto const received = comm.from(r); received.is_error) on_error(r, received.bytes);
}

/// Reads what rank r sent in the last collective call; throws wire_error, which names the rank.
template <class B, Communicator C, class M, class Blank>
void read_from(B& on, C& comm, int r, Blank blank, by_host<M, B>& reader, M& m) {
    bit_reader source(comm.from(r).bytes);
    try {
        reader.read_message(
            source, [&](auto& there, auto& known) { blank(there, r, known); }, on, m);
        source.finish();
    } catch (wire_error const& e) {
        throw wire_error(e.bit, concat({"from rank ", r, ": ", e.why}));
    }
}

/// use(r, m) for what every rank sent in the last collective call, read into `theirs`, in the order of ranks.
template <class B, Communicator C, class M, class Blank, class Use>
void each_message(B& on, C& comm, Blank blank, by_host<M, B>& reader, M& theirs, Use use) {
    for (int r = 0; r < comm.size(); ++r) {
        read_from(on, comm, r, blank, reader, theirs);
        use(r, std::as_const(theirs));
    }
}

/// For each_message(): out += a rank's part of the mean.
template <class B, Scalar T>
auto adding_mean(B& on, int ranks, std::span<T> out) {
    return [&on, out, share = T(1) / static_cast<T>(ranks)](int, auto const& m) { add_message(on, out, share, m); };
}

}  // namespace detail

/// An all-gather: each rank writes its message, all messages go to all ranks, and each rank reads them and
/// adds their mean straight to a vector, in the order of ranks, so that all ranks get the same bits. What that takes
/// goes with the messages, not with the vector; but where all ranks are in one process and messages are vectors in
/// full, long ones, each rank adds up a part for all (shared_mean.hpp), which meters do not count. Whoever wants the
/// mean itself clears the vector, best between send() and receive(), while the messages are on their way. A device's
/// messages are written and read by way of the host, but over a communicator that carries its arrays they stay there
/// (message_arrays.hpp). Reuses its memory.
template <class M, Scalar T, class B = host>
class by_gather {
  public:
    /// `positions` is how this rank encodes positions; the others need not agree.
    explicit by_gather(position_code positions = position_code::smallest) : sink_(positions) {}

    /// Hands this rank's message, about d numbers, to all; over a communicator that is Overlapping it does not wait.
    /// Where arrays are carried, the message must stay as it is until receive().
    template <Communicator C>
    void send(B& on, C& comm, M const& mine, std::size_t d, int lane = 0) {
        if constexpr (CarriesMessages<C, M, B>) return arrays_.send(on, comm, mine);
        detail::make_room<T>(sink_, d);
        sink_.clear();
        write(sink_, on, mine);
        detail::start_all_gather(comm, {sink_.finish(), false}, lane);
    }

    /// For several messages in one payload: this rank's is written to `sink`.
    void write(bit_writer& sink, B& on, M const& mine) { encoding_.write_message(sink, on, mine); }
    /// And one that write() wrote is read from `source`, blank(on, m) being what is known of it beforehand, and added
    /// to `out` with this weight. Throws wire_error.
    template <class Blank>
    void read_and_add(bit_reader& source, B& on, Blank blank, T weight, std::span<T> out) {
        encoding_.read_message(source, blank, on, theirs_);
        add_message(on, out, weight, theirs_);
    }

    /// Takes part in the same collective call with an error frame in place of a message, which must stay until
    /// receive().
    template <Communicator C>
    static void send_error(C& comm, std::span<std::byte const> what, int lane = 0) {
        detail::start_all_gather(comm, {what, true}, lane);
    }

    /// out += mean of all ranks' messages, where out is the same on all ranks. blank(on, r, m) makes m what is known of
    /// rank r's message beforehand, on the backend and, of a device's, also on the host. Throws wire_error, which names
    /// the rank, for bytes that are no such message, and `on_error(r, bytes)` decides what a rank's error frame means
    /// (it should throw the same on every rank). In both cases `out` is unspecified. Throws comm_error where send() did
    /// not wait and a rank cannot come.
    template <Communicator C, class Blank, class OnError>
    void receive(B& on, C& comm, Blank blank, OnError on_error, std::span<T> out, int lane = 0) {
        finish_gather(comm, on_error, lane);
        if constexpr (OnHost<B> && detail::MayShare<C> && !CarriesMessages<C, M, B>) {
            if (mean_.pays_for(comm, out.size())) {  // as long as vectors in full: look what they are
                blank(on, 0, theirs_);
                if (detail::is_in_full<T, B>(theirs_)) return mean_(on, comm, out);
            }
        }
        use_each(on, comm, blank, out.size(), detail::adding_mean(on, comm.size(), out));
    }
    /// The same for a caller that needs more of the messages, about d numbers, than their mean: use(r, m) for every
    /// rank r, in their order. m is there until use() returns.
    template <Communicator C, class Blank, class OnError, class Use>
    void receive_each(B& on, C& comm, Blank blank, OnError on_error, std::size_t d, Use use) {
        finish_gather(comm, on_error, 0);
        use_each(on, comm, blank, d, use);
    }

  private:
    template <Communicator C, class OnError>
    static void finish_gather(C& comm, OnError on_error, int lane) {
        detail::finish_all_gather(comm, lane);
        detail::receive_errors(comm, on_error);
    }
    template <Communicator C, class Blank, class Use>
    void use_each(B& on, C& comm, Blank blank, std::size_t d, Use use) {
        if constexpr (CarriesMessages<C, M, B>)
            arrays_.receive(on, comm, blank, d, use);
        else
            detail::each_message(on, comm, blank, encoding_, theirs_, use);
    }
    bit_writer sink_;
    by_host<M, B> encoding_;
    M theirs_;
    struct nothing {};
    [[no_unique_address]] std::conditional_t<OnHost<B>, nothing, message_arrays<M, B>> arrays_;
    [[no_unique_address]] std::conditional_t<OnHost<B>, detail::shared_mean<T, B>, nothing> mean_;
};

}  // namespace laconic
