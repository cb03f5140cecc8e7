// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "laconic/backend/host.hpp"
#include "laconic/comm/packet_machine.hpp"
#include "laconic/packet/omni_stream.hpp"

namespace laconic {

/// A worker's part in an omni_stream, where packets may be lost. It opens each slot with the first blocks that are not
/// zero in its columns; the answer has the first blocks among all workers'. Then turn by turn it sends those of them
/// that it has, or none, with the next blocks in its own columns; the answer to a turn, the sums and the next blocks,
/// shows that all have taken that turn. Packets without an answer are sent again. Used by omni_machine.
template <Scalar T, class B = host>
class omni_worker {
  public:
    /// Expects arguments that pass their checks.
    omni_worker(omni_stream const& how, int rank, retransmission when)
        : how_(how), blocks_(how.blocks()), columns_(how.columns()), rank_(rank), when_(when), asked_(when) {}

    /// Starts a new round. If x has not d numbers, all workers will receive that error.
    void begin(B& on, std::span<T> x, std::uint64_t round) {
        x_ = x;
        head_ = {how_.digest<T>(), static_cast<std::uint32_t>(round), {}, 0, 0, 0};
        find_blocks(on);
        auto const slot_count = how_.all_slots();
        openings_ = how_.groups_each() * aggregators();
        asked_.reset(openings_ + slot_count + aggregators(), aggregators());
        lacks_.assign(openings_ + slot_count, {});
        turns_.assign(slot_count, 0);
        here_.assign(columns_.parts, detail::no_block);
        coming_.assign(columns_.parts, detail::no_block);
        for (std::size_t c = 0; c < columns_.parts; ++c) coming_[c] = next_in(c, 0);
        to_come_.assign(aggregators(), 0);
        for (std::size_t s = 0; s < slot_count; ++s) ++to_come_[s % aggregators()];
        gone_ = 0;
        failed_worker_ = no_rank;
        overflow_ = how_.d;
    }

    void start(double now, auto& out) {
        for (std::size_t i = 0; i < openings_; ++i) send(i, now, out);
    }

    /// Takes a packet of aggregator a, of this round; returns true iff it brought something new.
    bool take(B& on, double now, std::size_t a, omni_header const& h, std::span<std::byte const> sent, auto& out) {
        if (h.kind == omni_kind::left) return take_left(now, a);
        bool const group = h.turn == 0;
        if (h.slot >= (group ? how_.groups_each() : how_.slots_each())) return false;
        auto const i = group ? h.slot * aggregators() + a : openings_ + h.slot * aggregators() + a;
        if (!asked_.waits(i)) return false;
        if (h.kind == omni_kind::pending) {
            auto const lacks = sent.size() == 4 ? static_cast<int>(detail::load_half(sent.data())) : no_rank;
            if (lacks >= 0 && lacks < how_.workers && lacks != rank_) lacks_[i] = {lacks, asked_.times(i)};
            return false;
        }
        if (group) return h.kind == omni_kind::opened && take_opened(now, i, sent, out);
        return h.kind == omni_kind::sums && h.turn == turns_[i - openings_] && take_sums(on, now, i, h, sent, out);
    }

    /// Aggregator a is in a later round: it has received that this worker leaves.
    bool take_left(double now, std::size_t a) {
        auto const i = farewell(a);
        if (!asked_.waits(i)) return false;
        asked_.answered(i, now);
        ++gone_;
        return true;
    }

    void wake(double now, auto& out) {
        asked_.each_late(now, [&](std::size_t i) {
            if (i < farewell(0) || asked_.times(i) < when_.farewells) return send(i, now, out);
            asked_.forget(i);  // the aggregator has left, too, or will notice
            ++gone_;
        });
    }

    double wakes_at() const { return asked_.wakes_at(); }
    bool done() const { return gone_ == aggregators(); }
    /// no_rank where all sums are here, although others may not yet have the notice.
    int waits_for() const {
        for (std::size_t i = 0; i < farewell(0); ++i)
            if (asked_.waits(i))
                return lacks_[i].who != no_rank && asked_.times(i) < lacks_[i].times + 8 ? lacks_[i].who : node_of(i);
        return no_rank;
    }

    /// The worker whose vector is not valid in this round, or no_rank, and its error: the first coordinate that is not
    /// finite, or detail::other_dimension and the number of its elements.
    int failed_worker() const { return failed_worker_; }
    std::uint64_t error() const { return error_; }
    /// The first coordinate of the sum that is not finite; d where all are finite.
    std::size_t overflow() const { return overflow_; }

  private:
    // As an aggregator reported after so many requests; since then it may be silent itself.
    struct missing {
        int who = no_rank;
        int times = 0;
    };

    std::size_t aggregators() const { return static_cast<std::size_t>(how_.aggregators); }
    std::size_t farewell(std::size_t a) const { return openings_ + turns_.size() + a; }
    // The numbers of openings, slots and farewells are dealt to aggregators in the same way.
    std::size_t aggregator_of(std::size_t i) const {
        return (i < openings_ ? i : i < farewell(0) ? i - openings_ : i - farewell(0)) % aggregators();
    }
    int node_of(std::size_t i) const { return how_.node_of(aggregator_of(i)); }

    // Finds a bit for each block that is not zero, and errors of x.
    void find_blocks(B& on) {
        std::span<T const> const x = x_;
        nonzero_.assign(blocks_.count() / 64 + 1, 0);
        error_ = x.size() == how_.d ? detail::no_coordinate : detail::other_dimension | x.size();
        if (x.size() != how_.d) return;
        select_nonzero_blocks(on, x, blocks_.block, found_);
        for (auto const b : found_) {
            nonzero_[b / 64] |= std::uint64_t{1} << b % 64;
            auto const part = blocks_.of(x, b);
            if (auto const j = first_non_finite(on, part); j < part.size() && error_ == detail::no_coordinate)
                error_ = blocks_.first(b) + j;
        }
    }
    bool has(std::size_t b) const { return (nonzero_[b / 64] >> b % 64 & 1) != 0; }
    std::uint32_t next_in(std::size_t column, std::size_t row) const {
        for (; row < columns_.rows(); ++row)
            if (auto const b = columns_.block_of(column, row); b < columns_.blocks && has(b))
                return static_cast<std::uint32_t>(b);
        return detail::no_block;
    }

    void send(std::size_t i, double now, auto& out) {
        asked_.sent(i, aggregator_of(i), now);
        if (i < openings_) {
            packet_.begin(head_.with(omni_kind::opening, i / aggregators())).word(error_);
            each_slot(i, [&](std::size_t s) {
                for (std::size_t w = 0; w < how_.fused; ++w) packet_.half(coming_[s * how_.fused + w]);
            });
        } else if (i < farewell(0)) {
            write_turn(i - openings_);
        } else {
            packet_.begin(head_.with(omni_kind::leaving, 0));
        }
        out(node_of(i), packet_.finish());
    }
    // The slots that opening i opens.
    void each_slot(std::size_t i, auto f) const {
        std::size_t const first = i / aggregators() * how_.slots_in_group();
        std::size_t const last = std::min(first + how_.slots_in_group(), how_.slots_each());
        for (std::size_t s = first; s < last; ++s) f(s * aggregators() + aggregator_of(i));
    }
    // The current blocks in x are this worker's own until their sums come.
    void write_turn(std::size_t s) {
        auto const first = s * how_.fused;
        auto h = head_.with(omni_kind::blocks, s / aggregators(), turns_[s]);
        auto const mine = [&](std::size_t w) { return here_[first + w] != detail::no_block && has(here_[first + w]); };
        for (std::size_t w = 0; w < how_.fused; ++w)
            if (mine(w)) h.columns |= 1u << w;
        packet_.begin(h);
        for (std::size_t w = 0; w < how_.fused; ++w) packet_.half(coming_[first + w]);
        for (std::size_t w = 0; w < how_.fused; ++w)
            if (mine(w)) packet_.numbers(std::span<T const>(blocks_.of(x_, here_[first + w])));
    }

    bool take_opened(double now, std::size_t i, std::span<std::byte const> sent, auto& out) {
        std::size_t n = 0;
        each_slot(i, [&](std::size_t) { n += how_.fused; });
        if (sent.size() != 12 + 4 * n) return false;
        auto const who = static_cast<int>(detail::load_half(sent.data()));
        auto from = sent.data() + 12;
        if (who != no_rank) {  // all aggregators send the same error: none goes on
            asked_.answered(i, now);
            failed_worker_ = who;
            error_ = detail::load_word(sent.data() + 4);
            for (std::size_t j = 0; j < farewell(0); ++j) asked_.forget(j);
            for (std::size_t b = 0; b < aggregators(); ++b) send(farewell(b), now, out);
            return true;
        }
        bool valid = error_ == detail::no_coordinate;  // no worker with an error goes on
        each_slot(i, [&](std::size_t s) {
            for (std::size_t c = s * how_.fused; c < (s + 1) * how_.fused; ++c, from += 4)
                valid = valid && may_come(c, 0, detail::load_half(from));
        });
        if (!valid) return false;
        asked_.answered(i, now);
        from = sent.data() + 12;
        each_slot(i, [&](std::size_t s) {
            turns_[s] = 1;
            go_on(s, from, now, out);
            from += 4 * how_.fused;
        });
        return true;
    }

    bool take_sums(B& on, double now, std::size_t i, omni_header const& h, std::span<std::byte const> sent, auto& out) {
        auto const s = i - openings_, first = s * how_.fused;
        auto const may_be = [&](std::size_t f, std::size_t row, std::uint32_t b) {
            return may_come(first + f, row, b);
        };
        if (!detail::fits_columns<T>(how_, h, sent, std::span(here_).subspan(first, how_.fused), true, may_be))
            return false;
        asked_.answered(i, now);
        auto from = sent.data() + 4 * how_.fused;
        for (std::size_t w = 0; w < how_.fused; ++w) {
            auto const b = here_[first + w];
            if (b == detail::no_block) continue;
            auto const part = blocks_.of(x_, b);
            detail::load_numbers(from, part);
            from += part.size_bytes();
            if (auto const j = first_non_finite(on, std::span<T const>(part)); j < part.size())
                overflow_ = std::min(overflow_, blocks_.first(b) + j);
        }
        ++turns_[s];
        go_on(s, sent.data(), now, out);
        return true;
    }

    // Whether b may be the next block of a column, from a row on: it must not come after this worker's own next block.
    bool may_come(std::size_t column, std::size_t row, std::uint32_t b) const {
        if (b == detail::no_block) return coming_[column] == b;
        return b < columns_.blocks && columns_.part_of(b) == column && columns_.row_of(b) >= row &&
               b <= coming_[column];
    }
    // Goes on to the blocks that `from` names.
    void go_on(std::size_t s, std::byte const* from, double now, auto& out) {
        bool over = true;
        for (std::size_t c = s * how_.fused; c < (s + 1) * how_.fused; ++c, from += 4) {
            auto const b = here_[c] = detail::load_half(from);
            if (b == detail::no_block) continue;
            over = false;
            if (b == coming_[c]) coming_[c] = next_in(c, columns_.row_of(b) + 1);
        }
        auto const a = s % aggregators();
        lacks_[openings_ + s] = {};
        if (!over)
            send(openings_ + s, now, out);
        else if (--to_come_[a] == 0)
            send(farewell(a), now, out);
    }

    omni_stream how_;
    detail::omni_blocks blocks_;
    detail::omni_deal columns_;
    int rank_;
    retransmission when_;
    std::span<T> x_;
    omni_header head_;
    std::vector<coordinate> found_;
    std::vector<std::uint64_t> nonzero_;
    std::size_t openings_ = 0, gone_ = 0, overflow_ = 0;
    detail::unanswered asked_;                  // by the numbers of openings, slots and farewells
    std::vector<missing> lacks_;                // the worker that the aggregator waits for
    std::vector<std::uint32_t> turns_;          // the turns of slots; 0: not open yet
    std::vector<std::uint32_t> here_, coming_;  // of columns: the current block of all, this worker's next
    std::vector<std::size_t> to_come_;          // for aggregators: the number of slots that are not over
    int failed_worker_ = no_rank;
    std::uint64_t error_ = 0;
    omni_packet_writer packet_;
};

}  // namespace laconic
