// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstddef>
#include <cstring>
#include <span>
#include <type_traits>
#include <utility>

#include "laconic/collective/collective.hpp"
#include "laconic/comm/metered.hpp"
#include "laconic/transport/message_arrays.hpp"
#include "laconic/transport/rank_messages.hpp"
#include "laconic/transport/transport.hpp"
#include "laconic/wire/fixed_width.hpp"

namespace laconic::detail {

/// Whether a message is a vector in full, of numbers of T.
template <Scalar T, class B, class M>
bool is_in_full([[maybe_unused]] M const& m) {
    using full = messages::full_vector<T, B>;
    if constexpr (messages::MayBe<M, full> && !std::same_as<M, full>) return m.template holds<full>();
    return std::same_as<M, full>;
}

/// A communicator that knows, itself or underneath, whether its ranks are in one process.
template <class C>
concept MayShare = requires(C& comm) {
    requires OneProcess<decltype(innermost(comm))>;
};

/// Whether the ranks of this communicator are in one process; see OneProcess.
template <Communicator C>
bool in_one_process([[maybe_unused]] C& comm) {
    if constexpr (MayShare<C>) return innermost(comm).in_one_process();
    return false;
}

/// The mean of messages in full where all ranks are in one process: each rank reads and adds up one P-th of the
/// coordinates of all messages, in the order of ranks, and shares the result with the others. It takes time and memory
/// of d numbers a rank, where reading all messages takes P d; the same bits.
template <Scalar T, class B>
class shared_mean {
  public:
    /// Whether the messages of the last all-gather have the length of d numbers in full, and d is so large that this
    /// saves more than its second all-gather costs; the same on all ranks.
    static bool pays_for(Communicator auto& comm, std::size_t d) {
        if (!may_pay_for(comm, d)) return false;
        for (int r = 0; r < comm.size(); ++r)
            if (comm.from(r).bytes.size() != d * sizeof(T)) return false;
        return true;
    }

    /// Whether the ranks are in one process and d is so large; then nothing else may be in flight.
    static bool may_pay_for(Communicator auto& comm, std::size_t d) {
        auto const others = static_cast<std::size_t>(comm.size()) - 1;
        return others > 0 && d >= least / others && in_one_process(comm);
    }

    /// out += the mean of the messages of the last all-gather; out must be the same on all ranks. Throws wire_error,
    /// the same on all ranks, for a number that is not finite; then out is unspecified.
    template <MayShare C>
    void operator()(B& on, C& comm, std::span<T> out) {
        auto const n = static_cast<std::size_t>(comm.size());
        partition const parts{out.size(), n};
        auto const first = parts.first(static_cast<std::size_t>(comm.rank()));
        auto const mine = parts.of(out, static_cast<std::size_t>(comm.rank()));
        T const share = T(1) / static_cast<T>(comm.size());
        failure wrong;
        for (int r = 0; r < comm.size() && !wrong; ++r) {
            wire::bit_reader source(comm.from(r).bytes.subspan(first * sizeof(T), mine.size_bytes()));
            try {
                wire::add_numbers<B, T>(on, source, share, mine);
            } catch (wire_error const& e) {
                wrong = failure::unreadable(r, e.bit + 8 * sizeof(T) * first, e.why);
            }
        }
        auto&& engine = innermost(comm);
        engine.share(wrong ? wrong.sent(sink_) : payload{std::as_bytes(mine)});
        least_failure(engine).raise();  // what is first in the order in which one rank would read all
        for (std::size_t r = 0; r < n; ++r) {
            auto const theirs = parts.of(out, r);
            auto const received = engine.from(static_cast<int>(r)).bytes;
            if (received.size() != theirs.size_bytes())
                failure::lost(static_cast<int>(r), "shares another part of the mean").raise();
            if (r != static_cast<std::size_t>(comm.rank()) && !received.empty())
                std::memcpy(theirs.data(), received.data(), received.size());
        }
    }

  private:
    static constexpr std::size_t least = std::size_t{1} << 14;  // numbers of others: longer than an all-gather

    wire::bit_writer sink_;
};

/// The transport gather_all: each rank writes its message, all messages go to all ranks, and each rank reads them and
/// adds their mean straight to a vector, in the order of ranks, so that all ranks get the same bits. The time goes with
/// the lengths of the messages, not with d. Where all ranks are in one process and messages are long vectors in full,
/// each rank adds up a part for all (shared_mean), which meters do not count. A device's messages are written and
/// read by way of the host, but over a communicator that carries its arrays they stay there (message_arrays.hpp).
/// Reuses its memory.
template <class M, Scalar T, class B = host>
class gathered : public plain_transport {
  public:
    /// `positions` is how this rank encodes positions; the others need not agree.
    gathered(gather_all, std::size_t d, position_code positions) : dimension_(d), sink_(positions) {}

    /// Whether nothing else may be in flight: only where the ranks of one process divide the addition among them.
    template <Communicator C>
    bool travels_alone([[maybe_unused]] C& comm) const {
        if constexpr (OnHost<B> && MayShare<C> && messages::MayBe<M, messages::full_vector<T, B>>)
            return shared_mean<T, B>::may_pay_for(comm, dimension_);
        return false;
    }
    /// Over a communicator that is Overlapping it does not wait.
    template <Communicator C>
    void send(B& on, C& comm, round_context const& now, M const& mine, failure const& own, int lane = 0) {
        if (own) {
            own.sent(sink_);
            return start_all_gather(comm, {with_tag(sink_, now), true}, lane);
        }
        if constexpr (CarriesMessages<C, M, B>) {
            sink_.clear();
            arrays_.send(on, comm, mine, with_tag(sink_, now));
        } else {
            written<T>(sink_, dimension_, encoding_, on, mine);
            start_all_gather(comm, {with_tag(sink_, now), false}, lane);
        }
    }
    /// mean <- the mean of all messages, the same bits on all ranks. Throws comm_error where a rank has failed before
    /// it sent its message, tags_differ on all ranks where the round has tags (round_context) that differ.
    template <Communicator C, class Blank, class F>
    void receive(B& on, C& comm, round_context const& now, M const&, failure const&, Blank blank, F const&,
                 std::span<T> mean, int lane = 0) {
        fill(on, mean, T(0));  // while the messages are on their way
        auto messages = arrived(comm, now, lane);
        if constexpr (!CarriesMessages<C, M, B>)
            if (add_in_parts(on, messages, blank, mean)) return;
        if constexpr (CarriesMessages<C, M, B>)
            arrays_.receive(on, comm, messages, blank, dimension_,
                            [&](int, auto const& m) { add_message(on, mean, T(1) / static_cast<T>(comm.size()), m); });
        else
            add_mean(on, messages, blank, encoding_, theirs_, mean);
    }

    /// For several messages in one payload: this rank's is written to `sink`.
    void write(wire::bit_writer& sink, B& on, M const& mine) { encoding_.write_message(sink, on, mine); }
    /// Of messages in full that have been gathered in one process each rank adds up a part, where that pays, to a mean
    /// of zeros. Returns whether it was done, the same on all ranks. Throws wire_error.
    template <Communicator Messages, class Blank>
    [[gnu::noinline]] bool add_in_parts([[maybe_unused]] B& on, [[maybe_unused]] Messages& messages,
                                        [[maybe_unused]] Blank blank, [[maybe_unused]] std::span<T> mean) {
        if constexpr (OnHost<B> && MayShare<Messages> && messages::MayBe<M, messages::full_vector<T, B>>) {
            if (shared_.pays_for(messages, mean.size())) {  // as long as vectors in full: look what they are
                blank(on, 0, theirs_);
                if (is_in_full<T, B>(theirs_)) return shared_(on, messages, mean), true;
            }
        }
        return false;
    }
    /// Reads what write() wrote of rank r's message from `source`, and adds it to `out`, which is 0 before the first,
    /// with this weight; `out` is complete with the last one. blank as in receive(). Throws wire_error.
    void read_and_add(wire::bit_reader& source, B& on, int r, auto blank, T weight, std::span<T> out, bool is_last) {
        encoding_.read_and_add(source, blank, r, on, theirs_, weight, out);
        if (is_last) messages::turn_back(on, out, std::as_const(theirs_));
    }
    /// Reads such a message, which is valid until the next one is read.
    M const& read(wire::bit_reader& source, B& on, int r, auto blank) {
        encoding_.read_message(source, blank, r, on, theirs_);
        return theirs_;
    }

  protected:
    /// Waits for the messages of this round, and throws what receive() does before any is read.
    template <Communicator C>
    static without_tags<C> arrived(C& comm, round_context const& now, int lane) {
        finish_all_gather(comm, lane);
        without_tags messages(comm, now);
        messages.require_one();
        least_failure(messages).raise();
        messages.require_readable();
        return messages;
    }

    wire::by_host<M, B> encoding_;
    M theirs_;

  private:
    std::size_t dimension_;
    wire::bit_writer sink_;
    struct nothing {};
    [[no_unique_address]] std::conditional_t<OnHost<B>, nothing, message_arrays<M, B>> arrays_;
    [[no_unique_address]] std::conditional_t<OnHost<B>, shared_mean<T, B>, nothing> shared_;
};

/// Whether a recursion's transport is gather_all; one that is chosen at run time has gathers(), which returns that.
template <class X>
bool is_gathered([[maybe_unused]] X const& transport) {
    if constexpr (requires { transport.gathers(); }) return transport.gathers();
    return std::same_as<X, gather_all>;
}

template <class M, class T, class B>
struct transport_of<gather_all, M, T, B> {
    using type = gathered<M, T, B>;
};

}  // namespace laconic::detail
