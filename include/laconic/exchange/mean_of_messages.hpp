// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "laconic/backend/host.hpp"
#include "laconic/comm/communicator.hpp"
#include "laconic/core/error.hpp"
#include "laconic/exchange/by_gather.hpp"
#include "laconic/exchange/error_frame.hpp"
#include "laconic/exchange/exchanged_mean.hpp"
#include "laconic/exchange/shared_mean.hpp"
#include "laconic/message/full_vector.hpp"

namespace laconic {

/// The mean of all ranks' messages, by an exchange or by an all-gather where the exchange is gather_all; a rank without
/// a message takes part with its error frame. Reuses its memory.
template <class X, class M, Scalar T, class B = host>
class mean_of_messages {
  public:
    /// Of messages about d numbers. Throws argument_error where the exchange does not suit them.
    mean_of_messages(X const& exchange, std::size_t d, position_code positions)
        : dimension_(d), gathered_(positions), exchanged_(exchange, d, positions) {}

    /// Throws argument_error beside a feedback that would lose what the exchange leaves out, and beside a server.
    template <class F>
    void require_beside(bool served, F const& feedback, std::string const& described) const {
        exchanged_.require_beside(served, feedback, described);
    }
    /// Whether an exchange adds the messages up, on their way.
    bool is_exchanged() const { return exchanged_.on(); }

    /// Whether nothing else may be on its way from send() to receive(): the same on all ranks.
    template <Communicator C>
    bool travels_alone(C& comm) const {
        if (exchanged_.on()) return true;
        if constexpr (OnHost<B> && detail::MayShare<C> && (std::same_as<M, full_vector<T, B>> || requires(M const& m) {
                          m.template holds<full_vector<T, B>>();
                      }))
            return detail::shared_mean<T, B>::may_pay_for(comm, dimension_);
        return false;
    }
    /// The first half: this rank's message, or `frame` where that is set, starts on its way, unless an exchange adds
    /// messages up. Both must stay as they are until receive().
    template <Communicator C>
    void send(B& on, C& comm, M const& mine, error_frame const& frame, int lane = 0) {
        if (exchanged_.on()) return;
        if (frame.is_set())
            gathered_.complain(comm, frame.bytes(), lane);
        else
            gathered_.say(on, comm, mine, dimension_, lane);
    }
    /// The second half: mean <- the mean of all messages, the same bits on all ranks; blank(on, r, m) makes m what is
    /// known of rank r's message beforehand. Throws on every rank what a rank's frame holds, wire_error for bytes that
    /// are no such message, and the exchange's errors; then mean is unspecified.
    template <Communicator C, class Blank>
    void receive(B& on, C& comm, M const& mine, error_frame const& frame, std::uint64_t round, Blank blank,
                 std::span<T> mean, int lane = 0) {
        if (!exchanged_.on()) {
            fill(on, mean, T(0));  // while the messages are on their way
            auto const raise = [&](int rank, std::span<std::byte const> bytes) {
                error_frame::raise(rank, round, bytes);
            };
            return gathered_.hear(on, comm, blank, raise, mean, lane);
        }
        std::optional<non_finite_error> wrong;  // ranks that are fibers do not communicate while they handle it
        try {
            if (frame.is_set())
                exchanged_.complain(on, comm, frame.coordinate(), round, mean);
            else
                exchanged_(on, comm, mine, round, mean);
        } catch (non_finite_error const& e) {
            wrong = e;
        }
        if (!wrong) return;
        frame.explain(comm, *wrong);
        throw *wrong;
    }
    /// For several messages in one contribution, where no exchange adds them up: by_gather's.
    void write(bit_writer& sink, B& on, M const& mine) { gathered_.write(sink, on, mine); }
    template <class Blank>
    void read_and_add(bit_reader& source, B& on, Blank blank, T weight, std::span<T> out) {
        gathered_.read_and_add(source, on, blank, weight, out);
    }
    /// Hands to the feedback, once it knows of the message, what the exchange left out and this rank must send again.
    template <class F>
    void give_back(B& on, F& feedback) const {
        if (exchanged_.on()) exchanged_.give_back(on, feedback);
    }

    /// Throws comm_error where an exchange broke off, so that other ranks may have its sum.
    void require_whole() const { exchanged_.require_whole(); }
    void make_whole() { exchanged_.make_whole(); }
    /// What the exchange remembers from round to round, where it does.
    template <class Archive>
    void state(Archive& archive) {
        exchanged_.state(archive);
    }

  private:
    std::size_t dimension_;
    by_gather<M, T, B> gathered_;
    exchanged_mean<X, T, B> exchanged_;
};

}  // namespace laconic
