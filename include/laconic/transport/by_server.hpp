// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "laconic/transport/by_gather.hpp"

namespace laconic {

/// Rank 0 is also a server: it alone receives the ranks' messages, and sends one message about their mean to all. Up is
/// the type of the ranks' messages, Down that of the server's. Reuses its memory.
template <class Up, class Down, Scalar T, class B = host>
class by_server {
  public:
    /// What answer() throws where the server has an error frame of its own, whose bytes must stay until receive() is
    /// left: all ranks receive it as if that rank had sent it.
    struct refusal {
        int rank;
        std::span<std::byte const> what;
    };

    explicit by_server(position_code positions = position_code::smallest) : sink_(positions) {}

    /// Hands this rank's message, about d numbers, to the server.
    template <Communicator C>
    void send(B& on, C& comm, Up const& mine, std::size_t d) {
        detail::make_room<T>(sink_, d);
        sink_.clear();
        up_.write_message(sink_, on, mine);
        comm.gather(0, {sink_.finish(), false});
    }

    /// Takes part in the same collective call with an error frame in place of a message.
    template <Communicator C>
    static void send_error(C& comm, std::span<std::byte const> what) {
        comm.gather(0, {what, true});
    }

    /// On the server: out += mean of the ranks' messages, then answer(out, down) fills in what it sends about that. On
    /// every rank: received <- the server's message, blank_answer(on, received) having made it what is known of it
    /// beforehand. Throws on every rank the same wire_error, which names the rank, for bytes that are no message, and
    /// calls `on_error(r, bytes)` on every rank for the first rank that sent an error frame; where answer throws, the
    /// other ranks throw an `error` with its text.
    template <Communicator C, class Blank, class OnError, class Answer, class BlankAnswer>
    void receive(B& on, C& comm, Blank blank, OnError on_error, std::span<T> out, Answer answer,
                 BlankAnswer blank_answer, Down& received) {
        if (comm.rank() == 0) {
            serve(on, comm, blank, on_error, out, answer);
        } else {
            comm.broadcast(0, {});
            if (comm.from(0).is_error) pass_on(comm.from(0).bytes, on_error);
        }
        detail::read_from(
            on, comm, 0, [&](auto& there, int, auto& m) { blank_answer(there, m); }, down_, received);
    }

  private:
    // Why the server has no answer: a rank that sent an error frame (then its bytes follow), or what went wrong (then a
    // text).
    struct trouble {
        std::int64_t rank = -1;
        std::uint64_t bit = 0;
        std::uint64_t unreadable = 0;
    };

    template <Communicator C, class Blank, class OnError, class Answer>
    void serve(B& on, C& comm, Blank blank, OnError on_error, std::span<T> out, Answer answer) {
        std::optional<int> refused;
        std::exception_ptr wrong;  // ranks that are fibers do not communicate while they handle it
        try {
            detail::receive_errors(comm, [](int r, std::span<std::byte const> what) { throw refusal{r, what}; });
            detail::each_message(on, comm, blank, up_, theirs_, detail::adding_mean(on, comm.size(), out));
            answer(out, mine_);
            detail::make_room<T>(sink_, out.size());
            sink_.clear();
            down_.write_message(sink_, on, mine_);
        } catch (refusal const& r) {
            explain({r.rank, 0, 0}, r.what);
            refused = r.rank;
        } catch (wire_error const& e) {
            explain({-1, e.bit, 1}, std::as_bytes(std::span(e.why)));
            wrong = std::current_exception();
        } catch (error const& e) {
            std::string const why = e.what();
            explain({-1, 0, 0}, std::as_bytes(std::span(why)));
            wrong = std::current_exception();
        }
        if (!refused && !wrong) return comm.broadcast(0, {sink_.finish(), false});
        comm.broadcast(0, {words_, true});
        if (wrong) std::rethrow_exception(wrong);
        on_error(*refused, std::span<std::byte const>(words_).subspan(sizeof(trouble)));
    }

    // What is broadcast in place of an answer.
    void explain(trouble const& head, std::span<std::byte const> text) {
        auto const raw = std::as_bytes(std::span(&head, 1));
        words_.assign(raw.begin(), raw.end());
        words_.insert(words_.end(), text.begin(), text.end());
    }

    template <class OnError>
    static void pass_on(std::span<std::byte const> words, OnError on_error) {
        trouble head;
        if (words.size() < sizeof head) throw comm_error(0, "rank 0 sent an unreadable error frame");
        std::memcpy(&head, words.data(), sizeof head);
        words = words.subspan(sizeof head);
        if (head.rank >= 0) return on_error(static_cast<int>(head.rank), words);
        std::string const why(reinterpret_cast<char const*>(words.data()), words.size());
        if (head.unreadable != 0) throw wire_error(head.bit, why);
        throw error(why);
    }

    bit_writer sink_;
    by_host<Up, B> up_;
    by_host<Down, B> down_;
    Up theirs_;
    Down mine_;
    std::vector<std::byte> words_;
};

}  // namespace laconic
