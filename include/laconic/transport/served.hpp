// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <span>
#include <string>
#include <utility>

#include "laconic/backend/host.hpp"
#include "laconic/comm/communicator.hpp"
#include "laconic/compress/compressor.hpp"
#include "laconic/core/round_context.hpp"
#include "laconic/core/text.hpp"
#include "laconic/feedback/answer.hpp"
#include "laconic/feedback/memory.hpp"
#include "laconic/transport/broken_round.hpp"
#include "laconic/transport/by_server.hpp"
#include "laconic/transport/error_frame.hpp"
#include "laconic/transport/transport.hpp"

namespace laconic {

template <class C, class M, Scalar T, class B = host>
class served_mean;

/// A transport with a server, as a recursion carries it: rank 0 alone receives the messages, and sends its estimate of
/// the gradient to all in a message of its own, compressed by C, with a memory of what it has sent (a second instance
/// of the same equation, with one rank).
template <class C, Scalar T = double, class B = host>
struct served {
    C compressor{};
    memory<T, B> feedback{};

    template <class M, class, class>
    using transport = served_mean<C, M, T, B>;

    friend std::string to_string(served const& s) {
        return detail::concat({"served(", to_string(s.compressor), ", ", to_string(s.feedback), ")"});
    }
};

/// The transport served{C}. Reuses its memory.
template <class C, class M, Scalar T, class B>
class served_mean : public plain_transport {
  public:
    using answer_type = message_of<C, T, B>;

    served_mean(served<C, T, B> how, std::size_t d, position_code positions)
        : how_(std::move(how)), dimension_(d), server_(positions) {
        how_.compressor.check(d);
    }
    template <Communicator Comm>
    void start(Comm& comm) {
        if (comm.rank() == 0) how_.feedback.start(dimension_);
    }
    template <Communicator Comm>
    void send(B& on, Comm& comm, round_context const&, M const& mine, error_frame const& frame, int = 0) {
        if (frame.is_set())
            server_.send_error(comm, frame.bytes());
        else
            server_.send(on, comm, mine, dimension_);
    }
    /// On rank 0: mean <- what the answer is about. Throws compression_error on every rank where the server has no
    /// answer; where an answer is damaged or lost the server has moved on: see require_whole().
    template <Communicator Comm, class Blank, class F>
    void receive(B& on, Comm& comm, round_context const& now, M const&, error_frame const&, Blank blank,
                 F const& feedback, std::span<T> mean, int = 0) {
        round_ = now.round;
        if (comm.rank() == 0) fill(on, mean, T(0));
        server_.receive(
            on, comm, blank,
            [&](int rank, std::span<std::byte const> bytes) { error_frame::raise(rank, now.round, bytes); }, mean,
            [&](std::span<T> d, answer_type& m) {
                make_answer(on, now, feedback, d, m);
                broken_.answer_is_on_its_way();
            },
            [&](auto& there, auto& m) {
                broken_.answer_is_on_its_way();
                how_.compressor.blank(there, dimension_, now.answer, m);
            },
            answer_);
        broken_.make_whole();
    }
    /// The server's own feedback moves on; mean <- the estimate, of the answer.
    template <Communicator Comm, class F>
    void reconstruct(B& on, Comm const& comm, round_context const& now, F& feedback, std::span<T> mean) {
        if (comm.rank() == 0) {
            feedback.reconstruct(on, now, std::span<T>(mean_of_messages_));
            how_.feedback.update(on, std::span<T const>(mean), answer_);
        }
        fill(on, mean, T(0));
        add_message(on, mean, T(1), answer_);
        how_.feedback.reconstruct(on, now, mean);
    }
    void require_whole() const { broken_.require_whole(0, round_); }
    void make_whole() { broken_.make_whole(); }
    template <class Archive>
    void state(Archive& archive) {
        archive(how_.feedback);
    }
    /// What the server remembers; on other ranks the mean shift alone.
    memory<T, B> const& feedback() const { return how_.feedback; }

  private:
    template <class F>
    void make_answer(B& on, round_context const& now, F const& feedback, std::span<T> d, answer_type& m) {
        frame_.clear();
        try {
            detail::make_answer(feedback, how_, on, now, d, mean_of_messages_, m);
        } catch (std::exception const& e) {
            frame_.because(detail::concat({"the server's answer: ", std::string(e.what())}));
            throw typename decltype(server_)::refusal{0, frame_.bytes()};
        }
    }

    served<C, T, B> how_;
    std::size_t dimension_;
    by_server<M, answer_type, T, B> server_;
    typename B::template array<T> mean_of_messages_;
    answer_type answer_;
    error_frame frame_;
    std::uint64_t round_ = 0;
    detail::broken_round broken_;
};

namespace detail {

/// A transport that is chosen at run time returns by server() whether it is served.
template <class X>
concept MayServe = requires(X const& transport) {
    transport.server().has_value();
};
template <class X>
inline constexpr bool is_served = false;
template <class C, class T, class B>
inline constexpr bool is_served<served<C, T, B>> = true;

}  // namespace detail
}  // namespace laconic
