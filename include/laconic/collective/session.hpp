// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <span>
#include <string>
#include <utility>

#include "laconic/collective/terms/sparse_sum.hpp"
#include "laconic/comm/communicator.hpp"
#include "laconic/wire/failure.hpp"

/// How ranks share failures where all send to all, and where one answers all; session shares them in a schedule of
/// messages in pairs.
namespace laconic::detail {

/// After a collective call: the least failure that a rank has sent in place of its payload; none where no rank has.
failure least_failure(Communicator auto& comm) {
    failure least;
    for (int r = 0; r < comm.size(); ++r)
        if (auto const theirs = comm.from(r); theirs.is_error) least.take_least(failure::read(theirs.bytes, r));
    return least;
}

/// Throws the least failure on all ranks, unless all leave their messages out.
void raise_unless_left_out(Communicator auto& comm) {
    bool all = true;
    for (int r = 0; r < comm.size() && all; ++r)
        all = comm.from(r).is_error && failure::read(comm.from(r).bytes, r).kind == failure_kind::left_out;
    if (!all) least_failure(comm).raise();
}

/// An all-gather: each rank sends its failure, which it writes to `sink`, or `bytes` where it has none. Returns the
/// least.
failure share_failure(Communicator auto& comm, failure const& mine, wire::bit_writer& sink,
                      std::span<std::byte const> bytes = {}) {
    comm.all_gather(mine ? mine.sent(sink) : payload{bytes});
    return least_failure(comm);
}

/// After a gather at rank 0: its answer, which is broadcast. answer() there returns what is sent, or throws. Throws on
/// all ranks the least failure that a rank sent in the gather, or else what answer() has thrown. The bytes are valid
/// until the next call of comm's. Until the caller has used them, `broken` (transport/transport.hpp) says that other
/// ranks may have the answer and this one not.
std::span<std::byte const> answer_of_rank_0(Communicator auto& comm, wire::bit_writer& sink, auto& broken,
                                            auto answer) {
    payload sent;
    if (comm.rank() == 0) {
        auto wrong = least_failure(comm);
        try {
            if (!wrong) sent.bytes = answer();
        } catch (...) {
            wrong = failure::of(std::current_exception(), 0);
        }
        if (wrong) sent = wrong.sent(sink);
    }
    broken.answer_is_on_its_way();
    comm.broadcast(0, sent);
    auto const received = comm.from(0);
    if (received.is_error) {
        broken.recover();
        failure::read(received.bytes, 0).raise();
    }
    return received.bytes;
}

}  // namespace laconic::detail

namespace laconic {

/// The number of a round, and why this rank brings nothing to its sum, if it does not: what it brings is then not read,
/// and all ranks throw that. The failure must outlive the sum. Without `keeps_leftover` what rounding leaves out is lost.
struct sum_round {
    std::uint64_t number = 0;
    detail::failure const* own = nullptr;
    bool keeps_leftover = true;

    sum_round(std::uint64_t round = 0, detail::failure const* of_this_rank = nullptr, bool keeps = true)
        : number(round), own(of_this_rank), keeps_leftover(keeps) {}
};

/// One rank's part in a schedule of exchanges through which an error of any rank reaches all. Once something is wrong
/// (a number that is not finite, a vector of another dimension, bytes that are no message) the rank goes on with the
/// schedule and sends an error frame in place of its message; who receives one does the same. So at the end all ranks
/// know and throw the same, no rank waits for another in vain, and the next round can begin. Of several errors the
/// least counts. Reuses its memory.
class session {
  public:
    /// `positions` is how this rank encodes positions; the others need not agree.
    explicit session(position_code positions = position_code::smallest) : sink_(positions) {}

    /// Makes room for messages of n terms; see bit_writer::reserve.
    template <Scalar T>
    void make_room(std::size_t n) {
        sink_.reserve(n * (sizeof(T) + sizeof(coordinate) + 1) + 64);
    }
    /// Starts a round, whose number is that of its errors; it has failed from the start where this rank brings nothing.
    void start(sum_round const& round) {
        round_ = round.number;
        worst_ = round.own != nullptr ? *round.own : detail::failure();
    }
    bool failed() const { return bool(worst_); }
    /// The same, with check_input() of this rank's v.
    void start(auto& on, Communicator auto const& comm, sum_round const& round, auto const& v, std::size_t d) {
        start(round);
        check_input(on, comm.rank(), v, d);
    }

    /// Reports where this rank's v has another dimension than d, or a number that is not finite.
    template <class B, Scalar T>
    void check_input(B& on, int rank, sparse_sum<T, B> const& v, std::size_t d) {
        if (failed() || has_other_dimension(rank, v.dimension(), d)) return;
        if (auto const j = first_non_finite(on, v.values()); j < v.size())
            report(detail::failure::not_finite(kernels::element(on, v.support(), j)), rank);
    }
    template <class B, class E>
    void check_input(B& on, int rank, std::span<E> x, std::size_t d) {
        if (failed() || has_other_dimension(rank, x.size(), d)) return;
        if (auto const j = first_non_finite(on, std::span<E const>(x)); j < d)
            report(detail::failure::not_finite(j), rank);
    }
    /// Reports where a sum of finite numbers has overflowed; the number of place i is coordinate where(i) in the error,
    /// or i itself; of a dense sum it is first + i.
    template <class B, Scalar T>
    void check_sum(B& on, sparse_sum<T, B> const& v, auto where) {
        if (auto const j = first_non_finite(on, v.values()); j < v.size())
            report_sum(where(std::uint64_t{kernels::element(on, v.support(), j)}));
    }
    void check_sum(auto& on, auto const& v) {
        check_sum(on, v, [](std::uint64_t i) { return i; });
    }
    template <class B, class E>
    void check_sum(B& on, std::span<E> x, std::size_t first) {
        if (auto const j = first_non_finite(on, std::span<E const>(x)); j < x.size()) report_sum(first + j);
    }

    /// This rank cannot send what it has added up, for a reason that all ranks throw.
    void give_up(int rank, std::string const& why) { report(detail::failure::no_message(why), rank); }

    /// Sends what send(sink) writes to rank `to`, and has receive(source) read what rank `from` sends; either may be
    /// no_rank. Neither is called once failed(), nor receive() for an error frame. What receive() leaves unread is an
    /// error as well.
    void exchange(PointToPoint auto& comm, int to, auto send, int from, auto receive) {
        std::span<std::byte const> mine;
        if (to != no_rank) mine = encode(send).finish();
        exchange_bytes(comm, to, mine, from, receive);
    }
    /// The sink with what send(sink) writes; once failed() it is empty, and send is not called. Valid until something
    /// else is sent.
    wire::bit_writer& encode(auto send) {
        sink_.clear();
        if (!failed()) send(sink_);
        return sink_;
    }
    /// exchange() with bytes that were encoded before, perhaps for several ranks.
    void exchange_bytes(PointToPoint auto& comm, int to, std::span<std::byte const> mine, int from, auto receive) {
        auto const received =
            comm.exchange(to, failed() && to != no_rank ? worst_.sent(failure_sink_) : payload{mine}, from);
        if (from == no_rank) return;
        if (received.is_error) return worst_.take_least(detail::failure::read(received.bytes, from));
        if (failed()) return;
        try {
            wire::bit_reader source(received.bytes);
            receive(source);
            source.finish();
        } catch (wire_error const& e) {
            worst_.take_least(detail::failure::unreadable(from, e.bit, e.why));
        }
    }
    void send_bytes(PointToPoint auto& comm, int to, std::span<std::byte const> mine) {
        exchange_bytes(comm, to, mine, no_rank, detail::no_calls{});
    }
    /// Sends the n numbers of x from `first` on, in full, without a copy where memory has the byte order of the wire.
    template <PointToPoint C, Scalar T>
    void send_numbers(C& comm, int to, std::span<T> x, std::size_t first, std::size_t n) {
        auto const numbers = failed() ? std::span<T const>() : std::span<T const>(x.subspan(first, n));
        if constexpr (std::endian::native == std::endian::little)
            send_bytes(comm, to, std::as_bytes(numbers));
        else
            send(comm, to, [&](wire::bit_writer& sink) { put_numbers(sink, numbers); });
    }
    void send(PointToPoint auto& comm, int to, auto what) { exchange(comm, to, what, no_rank, detail::no_calls{}); }
    void receive(PointToPoint auto& comm, int from, auto what) {
        exchange(comm, no_rank, detail::no_calls{}, from, what);
    }

    /// A collective call: all ranks learn what is wrong on any. Those where nothing is wrong send `bytes`.
    void share_failure(Communicator auto& comm, std::span<std::byte const> bytes = {}) {
        worst_.take_least(detail::share_failure(comm, worst_, failure_sink_, bytes));
    }

    /// Throws what is wrong: non_finite_error for what a rank brought and for a sum that overflowed, shape_error for
    /// its dimension, compression_error where a rank gave up, wire_error, which names the sender, for bytes that are no
    /// message. The same on all ranks, unless those bytes came so late in the schedule that they could not reach all
    /// ranks.
    void finish() const { worst_.raise(); }

  private:
    void report(detail::failure what, int rank) { worst_.take_least(std::move(what).by(rank, round_)); }
    void report_sum(std::uint64_t i) {
        worst_.take_least({.kind = detail::failure_kind::sum, .round = round_, .where = i});
    }
    bool has_other_dimension(int rank, std::size_t own, std::size_t d) {
        if (own == d) return false;
        auto why = detail::concat(
            {"rank ", detail::failure::its_rank, " has a vector of ", own, " numbers, the collective is for ", d});
        report({.kind = detail::failure_kind::shape, .why = std::move(why)}, rank);
        return true;
    }

    wire::bit_writer sink_, failure_sink_;
    detail::failure worst_;
    std::uint64_t round_ = 0;
};

}  // namespace laconic

namespace laconic::detail {

/// What most sums have in common.
struct sum_in_session {
    std::size_t d_;
    session session_;

    sum_in_session(auto const&, std::size_t d, position_code positions) : d_(d), session_(positions) {}
};

}  // namespace laconic::detail
