// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <span>
#include <string>
#include <utility>

#include "laconic/collective/session.hpp"
#include "laconic/compress/compressor.hpp"
#include "laconic/compress/identity.hpp"
#include "laconic/feedback/feedback.hpp"
#include "laconic/feedback/memory.hpp"
#include "laconic/transport/rank_messages.hpp"
#include "laconic/transport/transport.hpp"

namespace laconic {

/// A transport with a server, as a recursion carries it: rank 0 alone receives the messages, and sends its estimate of
/// the gradient to all in a message of its own, compressed by C, with a memory of what it has sent (a second instance
/// of the same equation, with one rank). In the first `in_full` rounds its message is not compressed.
template <class C, Scalar T = double, class B = host>
struct served {
    C compressor{};
    memory<T, B> feedback{};
    std::uint64_t in_full = 0;

    friend std::string to_string(served const& s) {
        std::string const first = s.in_full > 0 ? detail::concat({", in_full=", s.in_full}) : "";
        return detail::concat({"served(", to_string(s.compressor), ", ", to_string(s.feedback), first, ")"});
    }
};

}  // namespace laconic

namespace laconic::detail {

/// The transport served{C}. Reuses its memory.
template <class C, class M, Scalar T, class B = host>
class served_mean : public plain_transport {
  public:
    using answer_type = message_of<C, T, B>;

    served_mean(served<C, T, B> how, std::size_t d, position_code positions)
        : how_(std::move(how)), dimension_(d), sink_(positions) {
        how_.compressor.check(d);
    }
    void start(Communicator auto& comm) {
        if (comm.rank() == 0) how_.feedback.start(dimension_);
    }
    void send(B& on, Communicator auto& comm, round_context const&, M const& mine, failure const& own, int = 0) {
        if (own) return comm.gather(0, own.sent(sink_));
        comm.gather(0, detail::written<T>(sink_, dimension_, messages_, on, mine));
    }
    /// Makes, sends and receives the server's answer. On rank 0, mean <- the vector that the answer compresses. Throws
    /// compression_error on every rank where the server has no answer; where an answer is damaged or lost the server
    /// may have gone on alone: see require_consistent().
    void receive(B& on, Communicator auto& comm, round_context const& now, M const&, failure const&, auto blank,
                 auto const& feedback, std::span<T> mean, int = 0) {
        round_ = now.round;
        answer_of_rank_0(comm, sink_, broken_, [&] { return answer(on, comm, now, blank, feedback, mean); });
        if (now.round < how_.in_full)  // so that later rounds find room
            how_.compressor.blank(on, dimension_, now.answer, answer_);
        with_answer(now.round, [&](auto const& compressor, auto& encoding, auto& answer) {
            auto const blank_answer = [&](auto& there, int, auto& m) -> auto const& {
                compressor.blank(there, dimension_, now.answer, m);
                return compressor;
            };
            detail::read_from(on, comm, 0, blank_answer, encoding, answer);
        });
        broken_.recover();
    }
    /// mean <- the estimate, from the answer; updates the server's feedback.
    void reconstruct(B& on, Communicator auto const& comm, round_context const& now, auto& feedback,
                     std::span<T> mean) {
        with_answer(now.round, [&](auto const&, auto&, auto const& answer) {
            if (comm.rank() == 0) {
                feedback.reconstruct(on, now, std::span<T>(mean_of_messages_));
                how_.feedback.update(on, std::span<T const>(mean), answer);
            }
            fill(on, mean, T(0));
            add_message(on, mean, T(1), answer);
        });
        how_.feedback.reconstruct(on, now, mean);
    }
    void require_consistent() const { broken_.require_consistent(0, round_); }
    void recover() { broken_.recover(); }
    void state(auto& archive) { archive(how_.feedback); }
    /// The server's residual and shift; on other ranks the mean shift alone.
    memory<T, B> const& feedback() const { return how_.feedback; }

  private:
    using full_type = messages::full_vector<T, B>;
    template <class Compressor>
    struct answering {
        Compressor const& compressor;
        memory<T, B> const& feedback;
    };

    // Calls use(compressor, encoding, message) with those of this round's answer.
    auto with_answer(std::uint64_t round, auto use) {
        if (round < how_.in_full) return use(identity{}, full_answers_, full_answer_);
        return use(how_.compressor, answers_, answer_);
    }
    // What rank 0 sends, from the messages that it has gathered.
    std::span<std::byte const> answer(B& on, Communicator auto& comm, round_context const& now, auto blank,
                                      auto const& feedback, std::span<T> mean) {
        try {
            fill(on, mean, T(0));
            detail::add_mean(on, comm, blank, messages_, theirs_, mean);
            return with_answer(now.round, [&]<class X>(X const& compressor, auto& encoding, auto& answer) {
                answering<X> const server{compressor, how_.feedback};
                detail::make_answer(feedback, server, on, now, mean, mean_of_messages_, answer);
                return detail::written<T>(sink_, dimension_, encoding, on, answer).bytes;
            });
        } catch (wire_error const&) {
            throw;
        } catch (std::exception const& e) {
            failure::no_message(detail::concat({"the server's answer: ", e.what()})).by(0, now.round).raise();
        }
        return {};
    }

    served<C, T, B> how_;
    std::size_t dimension_;
    wire::bit_writer sink_;
    wire::by_host<M, B> messages_;
    wire::by_host<answer_type, B> answers_;
    wire::by_host<full_type, B> full_answers_;
    M theirs_;
    answer_type answer_;
    full_type full_answer_;
    typename B::template array<T> mean_of_messages_;
    std::uint64_t round_ = 0;
    detail::broken_round broken_;
};

template <class C, class T, class B, class M, class S, class D>
struct transport_of<served<C, T, B>, M, S, D> {
    using type = served_mean<C, M, T, B>;
};

}  // namespace laconic::detail
