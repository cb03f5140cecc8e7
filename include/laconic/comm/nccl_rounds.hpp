// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nccl.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "laconic/comm/mailbox.hpp"
#include "laconic/comm/nccl_stream.hpp"

namespace laconic::detail {

/// The calls in which a rank waits for others.
enum class nccl_call : std::uint64_t { exchange, all_gather, gather, broadcast, all_reduce, end };

/// Collective calls and exchanges of ranks that have only NCCL. NCCL takes nothing from a sender before its receiver
/// asks for it, and needs every length beforehand. So each rank that has to wait for others takes part in a round, and
/// a round begins when all ranks wait: each sends to all what it waits for and the lengths that it has for each (one
/// all-gather of a few words), then what was sent in pairs is delivered, and if all wait for the same collective call
/// it is made. Rounds follow until every rank has what it waits for. So if all ranks wait in vain, each gets an error,
/// and one that has left is named. Bytes go by way of a reused memory on the device.
class nccl_rounds {
  public:
    /// What a rank waits for: `with` is the sender, a collective call's root, or the bytes of a number of an
    /// all-reduce.
    struct waiting_for {
        nccl_call call;
        std::uint64_t with = 0;
        payload mine{};
        std::uint64_t count = 0;  ///< the count of an all-reduce
    };

    explicit nccl_rounds(nccl_stream& in)
        : in_(&in),
          ranks_(static_cast<std::size_t>(in.size())),
          me_(static_cast<std::size_t>(in.rank())),
          table_(in),
          pairs_(in),
          collective_(in),
          outgoing_(ranks_),
          payloads_(ranks_) {
        table_.make_room(ranks_ * row_words() * sizeof(std::uint64_t));
    }
    nccl_rounds(nccl_rounds const&) = delete;
    nccl_rounds& operator=(nccl_rounds const&) = delete;

    /// Makes a collective call with all ranks. Throws shape_error on all where they bring different counts to an
    /// all-reduce.
    void run_collective(waiting_for const& what) {
        while (go_on(what) != outcome::completed) {
        }
        for (std::size_t r = 1; r < ranks_ && what.call == nccl_call::all_reduce; ++r)
            if (word(r, 2) != word(0, 2))
                throw shape_error(
                    {"rank ", r, " brings ", word(r, 2), " numbers to an all-reduce, rank 0 ", word(0, 2)});
    }
    payload from(int r) const { return payloads_[static_cast<std::size_t>(r)]; }

    payload exchange(int to, payload mine, int from) {
        if (to == in_->rank()) {
            inbox_.next(to, mine.bytes.size()).assign(mine);
            inbox_.post(to);
        } else if (to != no_rank) {
            enqueue(outgoing_[static_cast<std::size_t>(to)], mine);
        }
        inbox_.release();  // not earlier: `mine` may refer to it
        if (from == no_rank) return {};
        while (!inbox_.has(from)) go_on({nccl_call::exchange, static_cast<std::uint64_t>(from)});
        return inbox_.take(from);
    }

    /// Takes part in the others' rounds until all are done, as they may still wait for what this rank has sent. Does
    /// not wait for a rank that has seen that there will be no further round.
    void leave() {
        while (in_->alive() && left_ == no_rank && round({nccl_call::end}) == outcome::delivered) {
        }
    }

  private:
    // A rank's row of the table: its call, `with`, the envelope of its payload or its count, and the number of bytes
    // that it has for each rank.
    static constexpr std::size_t first_pair = 3;
    std::size_t row_words() const { return first_pair + ranks_; }
    std::uint64_t word(std::size_t r, std::size_t i) const {
        std::uint64_t w = 0;
        std::memcpy(&w, table_.host() + (r * row_words() + i) * sizeof w, sizeof w);
        return w;
    }
    void put_word(std::size_t i, std::uint64_t w) {
        std::memcpy(table_.host() + (me_ * row_words() + i) * sizeof w, &w, sizeof w);
    }
    nccl_call call_of(std::size_t r) const { return static_cast<nccl_call>(word(r, 0)); }
    bool waits_as(std::size_t r, std::size_t other) const {
        return word(r, 0) == word(other, 0) && word(r, 1) == word(other, 1);
    }

    static std::uint64_t envelope_of(payload c) { return std::uint64_t{c.bytes.size()} << 1 | (c.is_error ? 1 : 0); }
    static void enqueue(std::vector<std::byte>& queue, payload mine) {
        auto const envelope = envelope_of(mine);
        auto const words = std::as_bytes(std::span(&envelope, 1));
        queue.insert(queue.end(), words.begin(), words.end());
        queue.insert(queue.end(), mine.bytes.begin(), mine.bytes.end());
    }

    // The outcome of a round: the collective call was made; some message was delivered; or none, so that no rank can go
    // on.
    enum class outcome { completed, delivered, deadlocked };

    outcome round(waiting_for const& what) {
        share_table(what);
        bool same = true;
        for (std::size_t r = 0; r < ranks_; ++r) same = same && waits_as(r, me_);
        bool const collective = same && what.call != nccl_call::exchange && what.call != nccl_call::end;
        bool const delivered = deliver_pairs();
        if (collective && what.call != nccl_call::all_reduce) start_collective(what);
        if (delivered || collective) in_->wait();
        if (delivered) sort_pairs();
        for (std::size_t r = 0; r < ranks_ && !collective && !delivered && left_ == no_rank; ++r)
            if (call_of(r) == nccl_call::end) left_ = static_cast<int>(r);
        return collective ? outcome::completed : delivered ? outcome::delivered : outcome::deadlocked;
    }
    // A round of a rank that needs what it waits for.
    outcome go_on(waiting_for const& what) {
        require_all_here();
        auto const came = round(what);
        if (came == outcome::deadlocked) end_deadlock();
        return came;
    }

    void share_table(waiting_for const& what) {
        put_word(0, static_cast<std::uint64_t>(what.call));
        put_word(1, what.with);
        put_word(2, what.call == nccl_call::all_reduce ? what.count : envelope_of(what.mine));
        for (std::size_t r = 0; r < ranks_; ++r) put_word(first_pair + r, outgoing_[r].size());
        std::size_t const row = row_words() * sizeof(std::uint64_t);
        table_.to_device(me_ * row, row);
        in_->check(
            ncclAllGather(table_.device() + me_ * row, table_.device(), row, ncclUint8, in_->comm(), in_->stream()),
            "ncclAllGather");
        table_.to_host(0, ranks_ * row);
        in_->wait();
    }

    // Delivers what ranks have for each other: all that this one sends lies before all that it receives. True where any
    // rank has anything for any.
    bool deliver_pairs() {
        bool any = false;
        std::size_t leaving = 0, arriving = 0;
        for (std::size_t r = 0; r < ranks_; ++r) {
            for (std::size_t to = 0; to < ranks_; ++to) any = any || word(r, first_pair + to) > 0;
            leaving += word(me_, first_pair + r);
            arriving += word(r, first_pair + me_);
        }
        if (leaving + arriving == 0) return any;
        pairs_.make_room(leaving + arriving);
        for (std::size_t r = 0, at = 0; r < ranks_; at += outgoing_[r++].size())
            std::copy(outgoing_[r].begin(), outgoing_[r].end(), pairs_.host() + at);
        pairs_.to_device(0, leaving);
        in_->together([&] {
            for (std::size_t r = 0, out = 0, in = leaving; r < ranks_; ++r) {
                send(r, pairs_.device() + out, outgoing_[r].size());
                receive(r, pairs_.device() + in, word(r, first_pair + me_));
                out += outgoing_[r].size();
                in += word(r, first_pair + me_);
            }
        });
        pairs_.to_host(leaving, arriving);
        return any;
    }
    void sort_pairs() {
        std::size_t at = 0;
        for (auto& queue : outgoing_) {
            at += queue.size();
            queue.clear();
        }
        for (std::size_t r = 0; r < ranks_; ++r) {
            for (std::size_t const end = at + word(r, first_pair + me_); at < end;) {
                std::uint64_t envelope = 0;
                std::memcpy(&envelope, pairs_.host() + at, sizeof envelope);
                at += sizeof envelope;
                inbox_.next(static_cast<int>(r), envelope >> 1)
                    .assign({{pairs_.host() + at, envelope >> 1}, (envelope & 1) != 0});
                inbox_.post(static_cast<int>(r));
                at += envelope >> 1;
            }
        }
    }

    // Starts the transfers of a collective call's payloads to the ranks that get them.
    void start_collective(waiting_for const& what) {
        bool const gathers = what.call == nccl_call::gather, to_me = what.with == me_;
        auto const arrives = [&](std::size_t r) {
            return what.call == nccl_call::all_gather || (gathers ? to_me : what.with == r);
        };
        std::size_t total = 0, own = word(me_, 2) >> 1;
        bool equal = true;
        for (std::size_t r = 0; r < ranks_; ++r) {
            total += arrives(r) ? word(r, 2) >> 1 : 0;
            equal = equal && word(r, 2) >> 1 == own;
        }
        collective_.make_room(std::max(total, own));
        for (std::size_t r = 0, at = 0; r < ranks_; at += payloads_[r++].bytes.size())
            payloads_[r] = {{collective_.host() + at, arrives(r) ? word(r, 2) >> 1 : 0},
                            arrives(r) && (word(r, 2) & 1) != 0};
        // A rank whose payload does not arrive here only sends, or only receives.
        if (!arrives(me_) && !gathers) own = 0;
        std::size_t const place = arrives(me_) ? place_of(me_) : 0;
        if (own > 0) std::memcpy(collective_.host() + place, what.mine.bytes.data(), own);
        collective_.to_device(place, own);
        if (equal && what.call == nccl_call::all_gather) {
            if (total > 0)
                in_->check(ncclAllGather(collective_.device() + place, collective_.device(), own, ncclUint8,
                                         in_->comm(), in_->stream()),
                           "ncclAllGather");
        } else {
            in_->together([&] {
                if (gathers && !to_me) return send(what.with, collective_.device(), own);
                for (std::size_t r = 0; r < ranks_; ++r) gathers ? receive_other(r) : broadcast_from(r);
            });
        }
        collective_.to_host(0, total);
    }
    std::size_t place_of(std::size_t r) const {
        return static_cast<std::size_t>(payloads_[r].bytes.data() - collective_.host());
    }
    void receive_other(std::size_t r) {
        if (r != me_) receive(r, collective_.device() + place_of(r), payloads_[r].bytes.size());
    }
    void broadcast_from(std::size_t r) {
        auto* const at = collective_.device() + place_of(r);
        if (auto const n = payloads_[r].bytes.size(); n > 0)
            in_->check(ncclBroadcast(at, at, n, ncclUint8, static_cast<int>(r), in_->comm(), in_->stream()),
                       "ncclBroadcast");
    }
    void send(std::size_t to, std::byte const* from, std::size_t n) {
        if (n > 0)
            in_->check(ncclSend(from, n, ncclUint8, static_cast<int>(to), in_->comm(), in_->stream()), "ncclSend");
    }
    void receive(std::size_t from, std::byte* to, std::size_t n) {
        if (n > 0)
            in_->check(ncclRecv(to, n, ncclUint8, static_cast<int>(from), in_->comm(), in_->stream()), "ncclRecv");
    }

    // All ranks wait, and none has anything for any: all find that in the same round.
    void end_deadlock() const {
        require_all_here();
        auto const whom = [this](int rank) {
            auto const r = static_cast<std::size_t>(rank);
            if (call_of(r) == nccl_call::exchange) return static_cast<int>(word(r, 1));
            for (std::size_t other = 0; other < ranks_; ++other)
                if (!waits_as(r, other)) return static_cast<int>(other);
            return no_rank;
        };
        throw comm_error(whom(in_->rank()), describe_waits(in_->rank(), whom));
    }
    // There are no rounds any more once a rank has left, or an error has aborted the communicator.
    void require_all_here() const {
        in_->comm();
        if (left_ != no_rank) throw comm_error(left_, abort_reason::left(left_));
    }

    nccl_stream* in_;
    std::size_t ranks_, me_;
    nccl_staging table_, pairs_, collective_;
    std::vector<std::vector<std::byte>> outgoing_;
    mailbox inbox_;
    std::vector<payload> payloads_;
    int left_ = no_rank;
};

}  // namespace laconic::detail
