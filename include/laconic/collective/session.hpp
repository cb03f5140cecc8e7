// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "laconic/backend/array.hpp"
#include "laconic/collective/agreement.hpp"
#include "laconic/collective/terms/sparse_sum.hpp"
#include "laconic/comm/communicator.hpp"
#include "laconic/core/error.hpp"
#include "laconic/core/text.hpp"
#include "laconic/wire/kind.hpp"
#include "laconic/wire/number.hpp"
#include "laconic/wire/stream.hpp"

namespace laconic {

/// One rank's part in a schedule of exchanges through which an error of any rank reaches all. Once something is wrong
/// (a number that is not finite, a vector of another dimension, bytes that are no message) the rank goes on with the
/// schedule and sends an error frame in place of its message; who receives one does the same. So at the end all ranks
/// know and throw the same, no rank waits for another in vain, and the next round can begin. Of several errors the
/// least counts. Reuses its memory.
class session {
    struct same_place {
        std::uint64_t operator()(std::uint64_t i) const { return i; }
    };

  public:
    /// `positions` is how this rank encodes positions; the others need not agree.
    explicit session(position_code positions = position_code::smallest) : sink_(positions) {}

    /// Makes room for messages of n terms; see bit_writer::reserve.
    template <Scalar T>
    void make_room(std::size_t n) {
        sink_.reserve(n * (sizeof(T) + sizeof(coordinate) + 1) + 64);
    }
    /// Starts a round, whose number is that of its errors.
    void start(std::uint64_t round) {
        worst_ = {};
        round_ = round;
    }
    bool failed() const { return worst_.what != nothing; }

    /// Reports where this rank's v has another dimension than d, or a number that is not finite.
    template <class B, Scalar T>
    void check_input(B& on, int rank, sparse_sum<T, B> const& v, std::size_t d) {
        if (v.dimension() != d) return report({dimension, rank, v.dimension(), std::to_string(d)});
        if (auto const j = first_non_finite(on, v.values()); j < v.size())
            report({input, rank, element(on, v.support(), j), {}});
    }
    template <class B, Scalar T>
    void check_input(B& on, int rank, std::span<T const> x, std::size_t d) {
        if (x.size() != d) return report({dimension, rank, x.size(), std::to_string(d)});
        if (auto const j = first_non_finite(on, x); j < d) report({input, rank, j, {}});
    }
    /// Reports where a sum of finite numbers has overflowed; its i-th number is coordinate `where(i)` in the error, or
    /// first + i.
    template <class B, Scalar T, class Where = same_place>
    void check_sum(B& on, sparse_sum<T, B> const& v, Where where = {}) {
        if (auto const j = first_non_finite(on, v.values()); j < v.size())
            report({sum, -1, where(std::uint64_t{element(on, v.support(), j)}), {}});
    }
    template <class B, Scalar T>
    void check_sum(B& on, std::span<T const> x, std::size_t first) {
        if (auto const j = first_non_finite(on, x); j < x.size()) report({sum, -1, first + j, {}});
    }

    /// This rank cannot send what it has added up, for a reason that all ranks throw.
    void give_up(int rank, std::string const& why) { report({not_encodable, rank, 0, why}); }

    /// Sends what send(sink) writes to rank `to`, and has receive(source) read what rank `from` sends; either may be
    /// no_rank. Neither is called once failed(), nor receive() for an error frame. What receive() leaves unread is an
    /// error as well.
    template <PointToPoint C, class Send, class Receive>
    void exchange(C& comm, int to, Send send, int from, Receive receive) {
        std::span<std::byte const> mine;
        if (to != no_rank) mine = encode(send).finish();
        exchange_bytes(comm, to, mine, from, receive);
    }
    /// The sink with what send(sink) writes; once failed() it is empty, and send is not called. Valid until something
    /// else is sent.
    template <class Send>
    bit_writer& encode(Send send) {
        sink_.clear();
        if (!failed()) send(sink_);
        return sink_;
    }
    /// exchange() with bytes that were encoded before, perhaps for several ranks.
    template <PointToPoint C, class Receive>
    void exchange_bytes(C& comm, int to, std::span<std::byte const> mine, int from, Receive receive) {
        payload sent{mine, failed()};
        if (to != no_rank && failed()) {
            encode_failure();
            sent.bytes = words_;
        }
        auto const received = comm.exchange(to, sent, from);
        if (from == no_rank) return;
        if (received.is_error) return report(read_failure(comm.size(), from, received.bytes));
        if (failed()) return;
        try {
            bit_reader source(received.bytes);
            receive(source);
            source.finish();
        } catch (wire_error const& e) {
            report({unreadable, from, e.bit, e.why});
        }
    }
    template <PointToPoint C>
    void send_bytes(C& comm, int to, std::span<std::byte const> mine) {
        exchange_bytes(comm, to, mine, no_rank, [](bit_reader&) {});
    }
    /// Sends the n numbers of x from `first` on, in full, without a copy where memory has the byte order of the wire.
    template <PointToPoint C, Scalar T>
    void send_numbers(C& comm, int to, std::span<T> x, std::size_t first, std::size_t n) {
        auto const numbers = failed() ? std::span<T const>() : std::span<T const>(x.subspan(first, n));
        if constexpr (std::endian::native == std::endian::little)
            send_bytes(comm, to, std::as_bytes(numbers));
        else
            send(comm, to, [&](bit_writer& sink) { put_numbers(sink, numbers); });
    }
    template <PointToPoint C, class Send>
    void send(C& comm, int to, Send what) {
        exchange(comm, to, what, no_rank, [](bit_reader&) {});
    }
    template <PointToPoint C, class Receive>
    void receive(C& comm, int from, Receive what) {
        exchange(
            comm, no_rank, [](bit_writer&) {}, from, what);
    }

    /// A collective call: all ranks learn what is wrong on any. Those where nothing is wrong send `bytes`.
    template <Communicator C>
    void share_failure(C& comm, std::span<std::byte const> bytes = {}) {
        payload mine{bytes, failed()};
        if (failed()) {
            encode_failure();
            mine.bytes = words_;
        }
        comm.all_gather(mine);
        for (int r = 0; r < comm.size(); ++r)
            if (auto const received = comm.from(r); received.is_error)
                report(read_failure(comm.size(), r, received.bytes));
    }

    /// Throws what is wrong: non_finite_error for what a rank brought, shape_error for its dimension, error for a sum
    /// that overflowed, compression_error where a rank gave up, wire_error, which names the sender, for bytes that are
    /// no message. The same on all ranks, unless those bytes came so late in the schedule that they could not reach all
    /// ranks.
    void finish() const {
        auto const& w = worst_;
        auto const at = std::to_string(w.where), who = std::to_string(w.rank);
        switch (w.what) {
            case nothing:
                return;
            case input:
                throw non_finite_error(static_cast<int>(w.rank), round_, static_cast<std::size_t>(w.where));
            case dimension:
                throw shape_error(
                    detail::concat({"rank ", who, " has a vector of ", at, " numbers, the collective is for ", w.why}));
            case sum:
                throw error(detail::concat({"round ", round_, ": the ranks' sum is not finite at coordinate ", at}));
            case not_encodable:
                throw compression_error(static_cast<int>(w.rank), round_, w.why);
            case unreadable:
                throw wire_error(w.where, detail::concat({"from rank ", who, ": ", w.why}));
        }
    }

  private:
    enum kind : std::uint64_t { nothing, input, dimension, sum, not_encodable, unreadable };
    struct failure {
        kind what = nothing;
        std::int64_t rank = 0;
        std::uint64_t where = 0;
        std::string why{};

        bool operator<(failure const& other) const {  // libc++ has no <=> of strings before its version 16
            return std::tie(what, rank, where, why) < std::tie(other.what, other.rank, other.where, other.why);
        }
    };

    void report(failure const& other) {
        if (worst_.what == nothing || other < worst_) worst_ = other;
    }
    void encode_failure() {
        auto const text = std::as_bytes(std::span(worst_.why));
        words_.resize(24);  // three words of the wire, then a text
        detail::store_word(words_.data(), worst_.what);
        detail::store_word(words_.data() + 8, static_cast<std::uint64_t>(worst_.rank));
        detail::store_word(words_.data() + 16, worst_.where);
        words_.insert(words_.end(), text.begin(), text.end());
    }
    static failure read_failure(int ranks, int from, std::span<std::byte const> words) {
        auto const what = words.size() < 24 ? nothing : detail::load_word(words.data());
        auto const about = what == nothing ? 0 : static_cast<std::int64_t>(detail::load_word(words.data() + 8));
        if (what < input || what > unreadable || about < no_rank || about >= ranks)
            return {unreadable, from, 0, "an unreadable error frame"};
        auto const text = words.subspan(24);
        return {static_cast<kind>(what), about, detail::load_word(words.data() + 16),
                std::string(reinterpret_cast<char const*>(text.data()), text.size())};
    }

    bit_writer sink_;
    std::vector<std::byte> words_;
    failure worst_;
    std::uint64_t round_ = 0;
};

}  // namespace laconic
