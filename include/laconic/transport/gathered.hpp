// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstddef>
#include <span>

#include "laconic/backend/host.hpp"
#include "laconic/collective/collective.hpp"
#include "laconic/comm/communicator.hpp"
#include "laconic/core/round_context.hpp"
#include "laconic/message/full_vector.hpp"
#include "laconic/transport/by_gather.hpp"
#include "laconic/transport/error_frame.hpp"
#include "laconic/transport/shared_mean.hpp"
#include "laconic/transport/transport.hpp"

namespace laconic {

/// The transport gather_all: every rank's message goes to all, and each adds them up (by_gather). Reuses its memory.
template <class M, Scalar T, class B = host>
class gathered : public plain_transport {
  public:
    gathered(gather_all, std::size_t d, position_code positions) : dimension_(d), messages_(positions) {}

    /// Other messages may travel at the same time, but where ranks of one process share out what is to be added.
    template <Communicator C>
    bool travels_alone([[maybe_unused]] C& comm) const {
        if constexpr (OnHost<B> && detail::MayShare<C> && MayBe<M, full_vector<T, B>>)
            return detail::shared_mean<T, B>::may_pay_for(comm, dimension_);
        return false;
    }
    /// Over a communicator that is Overlapping it does not wait.
    template <Communicator C>
    void send(B& on, C& comm, round_context const&, M const& mine, error_frame const& frame, int lane = 0) {
        if (frame.is_set())
            messages_.send_error(comm, frame.bytes(), lane);
        else
            messages_.send(on, comm, mine, dimension_, lane);
    }
    /// mean <- the mean of all messages, the same bits on all ranks.
    template <Communicator C, class Blank, class F>
    void receive(B& on, C& comm, round_context const& now, M const&, error_frame const&, Blank blank, F const&,
                 std::span<T> mean, int lane = 0) {
        fill(on, mean, T(0));  // while the messages are on their way
        auto const raise = [&](int rank, std::span<std::byte const> bytes) {
            error_frame::raise(rank, now.round, bytes);
        };
        messages_.receive(on, comm, blank, raise, mean, lane);
    }
    /// For several messages in one payload: by_gather's.
    void write(bit_writer& sink, B& on, M const& mine) { messages_.write(sink, on, mine); }
    template <class Blank>
    void read_and_add(bit_reader& source, B& on, Blank blank, T weight, std::span<T> out) {
        messages_.read_and_add(source, on, blank, weight, out);
    }

  private:
    std::size_t dimension_;
    by_gather<M, T, B> messages_;
};

namespace detail {

/// A transport that is chosen at run time has a member that returns whether it is gather_all.
template <class X>
concept ChosenTransport = requires(X const& transport) {
    { transport.gathers() } -> std::same_as<bool>;
};
/// Whether a recursion's transport is gather_all.
template <class X>
bool is_gathered([[maybe_unused]] X const& transport) {
    if constexpr (ChosenTransport<X>)
        return transport.gathers();
    else
        return std::same_as<X, gather_all>;
}

template <class M, class T, class B>
struct transport_of<gather_all, M, T, B> {
    using type = gathered<M, T, B>;
};

}  // namespace detail
}  // namespace laconic
