// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>

#include "laconic/feedback/feedback.hpp"
#include "laconic/feedback/memory.hpp"
#include "laconic/transport/gathered.hpp"

namespace laconic {

/// Who moves and who sends in each exchange of block descent. Exchange 0 only makes the embeddings of the starting
/// point known. Then a round is one exchange, in which all parties move and send; or, in turns, one for each party,
/// which alone moves and sends. With batches the last one of a round is about the samples of the next, so that all
/// send.
struct turn_schedule {
    int parties = 1;
    bool in_turns = false, batches = false;

    std::uint64_t per_round() const { return in_turns ? static_cast<std::uint64_t>(parties) : 1; }
    /// The number of rounds that so many exchanges have completed.
    std::uint64_t rounds(std::uint64_t exchanges) const { return exchanges == 0 ? 0 : (exchanges - 1) / per_round(); }
    bool ends_round(std::uint64_t exchange) const { return exchange % per_round() == 0; }
    /// The only rank that moves and, unless all_send(), sends.
    int sender(std::uint64_t exchange) const { return static_cast<int>((exchange - 1) % per_round()); }
    bool moves(std::uint64_t exchange, int rank) const {
        return exchange > 0 && (!in_turns || rank == sender(exchange));
    }
    bool all_send(std::uint64_t exchange) const {
        return exchange == 0 || !in_turns || (batches && ends_round(exchange));
    }
    bool sends(std::uint64_t exchange, int rank) const { return all_send(exchange) || rank == sender(exchange); }
    /// The number of the batch that the embeddings of an exchange are about.
    std::uint64_t batch(std::uint64_t exchange) const {  // before its last exchange a round is about its own batch
        return (exchange + per_round() - 1) / per_round() - !ends_round(exchange);
    }
};

/// The memory of a party that sends in turns: in others' turns its message is zero, and nothing changes. The shift is
/// what the others know of its embeddings; with batches each exchange of all starts anew.
template <Scalar T = double, class B = host>
class turn_memory {
  public:
    turn_memory(turn_schedule when, int rank) : when_(when), rank_(rank), sent_(1, 0) {}

    void start(std::size_t d) { sent_.start(d); }
    void compensate(B& on, round_context const& now, std::span<T> g) const { make_delta(on, now, T(1), g); }
    bool make_delta(B& on, round_context const& now, T scale, std::span<T> g) const {
        if (when_.sends(now.round, rank_) && !anew(now.round)) return sent_.make_delta(on, now, scale, g);
        if (when_.sends(now.round, rank_))
            multiply(on, scale, g);
        else
            fill(on, g, T(0));
        return first_non_finite(on, std::span<T const>(g)) == g.size();
    }
    template <class Delta, class M>
    void update(B& on, Delta&& delta, M const& m) {
        if (!when_.sends(exchange_, rank_)) return;
        if (anew(exchange_)) sent_.scale(on, T(0));
        sent_.update(on, std::forward<Delta>(delta), m);
    }
    void reconstruct(B& on, round_context const& now, std::span<T> mean) {
        sent_.reconstruct(on, now, mean);
        ++exchange_;
    }
    void state(auto& archive) { archive(exchange_, sent_); }
    friend std::string to_string(turn_memory const& m) {
        return detail::concat({to_string(m.sent_), " in turns of ", m.when_.parties, " parties",
                               (m.when_.batches ? ", anew with each batch" : "")});
    }

  private:
    bool anew(std::uint64_t exchange) const { return when_.batches && when_.all_send(exchange); }

    turn_schedule when_;
    int rank_;
    memory<T, B> sent_;
    std::uint64_t exchange_ = 0;
};

template <class M, Scalar T, class B = host>
class turn_mean;

/// The transport of block descent in turns, as a recursion carries it: the sender broadcasts its message; where all
/// send, it is gather_all.
struct by_turns {
    turn_schedule when{};

    template <class M, class T, class B>
    using transport = turn_mean<M, T, B>;

    friend std::string to_string(by_turns const& t) {
        return detail::concat({"by_turns(", t.when.parties, t.when.batches ? ", batches)" : ")"});
    }
};

/// The transport by_turns. Its mean is that of all ranks' messages, where those whose turn it is not send zeros.
template <class M, Scalar T, class B>
class turn_mean : public plain_transport {
  public:
    turn_mean(by_turns how, std::size_t d, position_code positions)
        : when_(how.when), all_(gather_all{}, d, positions), dimension_(d), sink_(positions) {}

    void send(B& on, Communicator auto& comm, round_context const& now, M const& mine, detail::failure const& own,
              int lane = 0) {
        if (when_.all_send(now.round)) return all_.send(on, comm, now, mine, own, lane);
        int const sender = when_.sender(now.round);
        if (comm.rank() != sender) return comm.broadcast(sender, {});
        if (own) return comm.broadcast(sender, own.sent(sink_));
        comm.broadcast(sender, detail::written<T>(sink_, dimension_, encoding_, on, mine));
    }
    void receive(B& on, Communicator auto& comm, round_context const& now, M const& mine, detail::failure const& own,
                 auto blank, auto const& feedback, std::span<T> mean, int lane = 0) {
        if (when_.all_send(now.round)) return all_.receive(on, comm, now, mine, own, blank, feedback, mean, lane);
        int const sender = when_.sender(now.round);
        if (auto const theirs = comm.from(sender); theirs.is_error) detail::failure::read(theirs.bytes, sender).raise();
        fill(on, mean, T(0));
        detail::read_from(on, comm, sender, blank, encoding_, theirs_);
        add_message(on, mean, T(1) / static_cast<T>(comm.size()), theirs_);
    }

  private:
    turn_schedule when_;
    detail::gathered<M, T, B> all_;
    std::size_t dimension_;
    wire::bit_writer sink_;
    wire::by_host<M, B> encoding_;
    M theirs_;
};

}  // namespace laconic
