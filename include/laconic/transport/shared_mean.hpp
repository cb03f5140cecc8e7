// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstddef>
#include <cstring>
#include <span>

#include "laconic/backend/array.hpp"
#include "laconic/collective/shared_failure.hpp"
#include "laconic/comm/metered.hpp"
#include "laconic/core/error.hpp"
#include "laconic/core/partition.hpp"
#include "laconic/message/plain.hpp"
#include "laconic/wire/failure.hpp"
#include "laconic/wire/number.hpp"
#include "laconic/wire/stream.hpp"

namespace laconic::detail {

/// Whether a message is a vector in full, of numbers of T.
template <Scalar T, class B, class M>
bool is_in_full([[maybe_unused]] M const& m) {
    if constexpr (std::same_as<M, messages::full_vector<T, B>>)
        return true;
    else if constexpr (messages::MayBe<M, messages::full_vector<T, B>>)
        return m.template holds<messages::full_vector<T, B>>();
    else
        return false;
}

/// A communicator that knows, itself or underneath, whether its ranks are in one process.
template <class C>
concept MayShare = requires(C& comm) {
    requires OneProcess<decltype(innermost(comm))>;
};

/// Whether the ranks of this communicator are in one process; see OneProcess.
template <Communicator C>
bool in_one_process([[maybe_unused]] C& comm) {
    if constexpr (MayShare<C>)
        return innermost(comm).in_one_process();
    else
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
    template <Communicator C>
    static bool pays_for(C& comm, std::size_t d) {
        if (!may_pay_for(comm, d)) return false;
        for (int r = 0; r < comm.size(); ++r)
            if (comm.from(r).bytes.size() != d * sizeof(T)) return false;
        return true;
    }

    /// Whether the ranks are in one process and d is so large; then nothing else may be in flight.
    template <Communicator C>
    static bool may_pay_for(C& comm, std::size_t d) {
        auto const others = static_cast<std::size_t>(comm.size()) - 1;
        return others > 0 && d >= least / others && in_one_process(comm);
    }

    /// out += the mean of the messages of the last all-gather; out must be the same on all ranks. Throws wire_error,
    /// the same on all ranks, for a number that is not finite; then out is unspecified.
    template <MayShare C>
    void operator()(B& on, C& comm, std::span<T> out) {
        auto const n = static_cast<std::size_t>(comm.size());
        detail::partition const parts{out.size(), n};
        auto const first = parts.first(static_cast<std::size_t>(comm.rank()));
        auto const mine = parts.of(out, static_cast<std::size_t>(comm.rank()));
        T const share = T(1) / static_cast<T>(comm.size());
        failure wrong;
        part_.values.resize(mine.size());
        for (int r = 0; r < comm.size() && !wrong; ++r) {
            wire::bit_reader source(comm.from(r).bytes.subspan(first * sizeof(T), mine.size_bytes()));
            try {
                take_numbers(source, part_.values);
                add_message(on, mine, share, part_);
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
    static constexpr std::size_t least = std::size_t{1} << 16;  // numbers of others: longer than an all-gather

    messages::full_vector<T, B> part_;
    wire::bit_writer sink_;
};

}  // namespace laconic::detail
