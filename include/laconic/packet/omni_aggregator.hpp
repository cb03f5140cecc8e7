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

/// An aggregator's part in an omni_stream, where packets may be lost. A turn of a slot is over when every worker has
/// taken it; then the blocks are added up in the order of workers, starting with 0, and the answer goes to all. It is
/// kept until the next turn is over: a worker that takes the last turn again has not received the answer, and it alone
/// gets it again. No worker can be further behind, as all have taken this turn. Used by omni_machine.
template <Scalar T, class B = host>
class omni_aggregator {
  public:
    /// Expects arguments that pass their checks; this is the a-th aggregator.
    omni_aggregator(omni_stream const& how, std::size_t a, retransmission when)
        : how_(how),
          blocks_(how.blocks()),
          columns_(how.columns()),
          a_(a),
          longest_silence_(16 * when.most),
          packet_(how.longest_packet<T>()) {}

    /// Starts a new round.
    void begin(std::uint64_t round) {
        head_ = {how_.digest<T>(), static_cast<std::uint32_t>(round), {}, 0, 0, 0};
        auto const p = static_cast<std::size_t>(how_.workers);
        auto const restart = [&](std::vector<turn>& all, std::size_t n) {
            all.resize(n);
            for (auto& t : all) {
                t.number = 0;
                t.seen.clear(p);
                t.answer.clear();
                t.answer.reserve(how_.longest_packet<T>());
            }
        };
        restart(groups_, how_.groups_each());
        restart(slots_, how_.slots_each());
        here_.assign(how_.slots_each() * how_.fused, detail::no_block);
        next_.assign(how_.slots_each() * how_.fused, detail::no_block);
        columns_sent_.assign(how_.slots_each() * p, 0);
        numbers_.resize(how_.slots_each() * p * how_.fused * blocks_.longest());
        sum_.resize(blocks_.longest());
        left_.clear(p);
        left_alone_ = false;
        to_answer_ = how_.slots_each() + how_.groups_each();
        gives_up_ = never;
        failed_worker_ = how_.workers;
    }

    /// Takes a packet of worker w, of this round; returns true iff it brought something new.
    bool take(B& on, double now, std::size_t w, omni_header const& h, std::span<std::byte const> sent, auto& out) {
        if (gives_up_ != never) gives_up_ = now + longest_silence_;
        if (h.kind == omni_kind::leaving) {
            out(static_cast<int>(w), packet_.begin(head_.with(omni_kind::left, 0)).finish());
            return left_.add(w);
        }
        bool const group = h.turn == 0;
        auto& all = group ? groups_ : slots_;
        if (h.slot >= all.size() || h.kind != (group ? omni_kind::opening : omni_kind::blocks)) return false;
        auto& t = all[h.slot];
        if (h.turn + 1 == t.number) {
            if (!t.answer.empty()) out(static_cast<int>(w), std::span<std::byte const>(t.answer));
            return false;
        }
        if (h.turn != t.number || over(h.slot, group)) return false;
        if (t.seen.has(w)) {
            send_pending(w, h, t, out);
            return false;
        }
        if (!(group ? store_opening(w, h.slot, sent) : store_blocks(w, h, sent))) return false;
        t.seen.add(w);
        if (!t.seen.full()) return true;
        if (group)
            write_opened(h.slot);
        else
            write_sums(on, h.slot);
        auto const answer = packet_.finish();
        t.answer.assign(answer.begin(), answer.end());
        ++t.number;
        t.seen.clear();
        if (group) open_slots(h.slot);
        if (group || over(h.slot, false)) --to_answer_;
        if (to_answer_ == 0 || failed_worker_ < how_.workers) gives_up_ = now + longest_silence_;
        for (int to = 0; to < how_.workers; ++to) out(to, std::span<std::byte const>(t.answer));
        return true;
    }

    /// Worker w is in a later round, so it has left this one.
    void take_left(std::size_t w) { left_.add(w); }

    /// When all was sent and a worker has not sent that it leaves, it is not waited for without end.
    void wake(double now) { left_alone_ |= now >= gives_up_; }
    double wakes_at() const { return done() ? never : gives_up_; }
    bool done() const { return left_.full() || left_alone_; }
    /// The first worker that is missing in the turn that most workers have taken.
    int waits_for() const {
        turn const* most = nullptr;
        if (gives_up_ != never) return no_rank;
        for (auto const* all : {&groups_, &slots_})
            for (auto const& t : *all)
                if (!over(static_cast<std::size_t>(&t - all->data()), all == &groups_) &&
                    (!most || t.seen.size() > most->seen.size()))
                    most = &t;
        return most ? most->seen.first_missing() : no_rank;
    }

  private:
    struct turn {
        std::uint32_t number = 0;       // the number of the current turn; slots that are not open have 0
        detail::node_set seen;          // the workers that have taken this turn
        std::vector<std::byte> answer;  // the answer to the turn before
    };

    // Whether no further turn will be taken.
    bool over(std::size_t s, bool group) const {
        if (group) return groups_[s].number > 0;
        auto const first = here_.begin() + static_cast<std::ptrdiff_t>(s * how_.fused);
        return std::all_of(first, first + static_cast<std::ptrdiff_t>(how_.fused),
                           [](auto b) { return b == detail::no_block; });
    }
    std::size_t column(std::size_t s, std::size_t f) const {
        return (s * static_cast<std::size_t>(how_.aggregators) + a_) * how_.fused + f;
    }
    // The numbers of worker w for column f of slot s, in the order of workers.
    std::span<T> numbers(std::size_t s, std::size_t w, std::size_t f) {
        auto const p = static_cast<std::size_t>(how_.workers);
        auto const b = here_[s * how_.fused + f];
        return std::span(numbers_).subspan(((s * p + w) * how_.fused + f) * blocks_.longest(), blocks_.length(b));
    }
    bool may_come(std::size_t s, std::size_t f, std::size_t row, std::uint32_t b) const {
        return b == detail::no_block ||
               (b < columns_.blocks && columns_.part_of(b) == column(s, f) && columns_.row_of(b) >= row);
    }
    std::size_t first_slot(std::size_t g) const { return g * how_.slots_in_group(); }
    std::size_t last_slot(std::size_t g) const { return std::min(first_slot(g + 1), how_.slots_each()); }

    bool store_opening(std::size_t w, std::size_t g, std::span<std::byte const> sent) {
        auto const first = first_slot(g), last = last_slot(g);
        if (sent.size() != 8 + 4 * how_.fused * (last - first)) return false;
        auto const each = [&](auto f) {
            auto from = sent.data() + 8;
            bool good = true;
            for (std::size_t s = first; s < last; ++s)
                for (std::size_t c = 0; c < how_.fused; ++c, from += 4) good = f(s, c, detail::load_half(from)) && good;
            return good;
        };
        if (!each([&](std::size_t s, std::size_t c, std::uint32_t b) { return may_come(s, c, 0, b); })) return false;
        if (auto const error = detail::load_word(sent.data());
            error != detail::no_coordinate && static_cast<int>(w) < failed_worker_) {
            failed_worker_ = static_cast<int>(w);
            error_ = error;
        }
        each([&](std::size_t s, std::size_t c, std::uint32_t b) {
            auto& least = next_[s * how_.fused + c];
            least = std::min(least, b);
            return true;
        });
        return true;
    }
    bool store_blocks(std::size_t w, omni_header const& h, std::span<std::byte const> sent) {
        std::size_t const s = h.slot, first = s * how_.fused;
        auto const may_be = [&](std::size_t f, std::size_t row, std::uint32_t b) { return may_come(s, f, row, b); };
        if (!detail::fits_columns<T>(how_, h, sent, std::span(here_).subspan(first, how_.fused), false, may_be))
            return false;
        auto from = sent.data() + 4 * how_.fused;
        for (std::size_t f = 0; f < how_.fused; ++f) {
            next_[first + f] = std::min(next_[first + f], detail::load_half(sent.data() + 4 * f));
            if ((h.columns >> f & 1) == 0) continue;
            auto const mine = numbers(s, w, f);
            detail::load_numbers(from, mine);
            from += mine.size_bytes();
        }
        columns_sent_[s * static_cast<std::size_t>(how_.workers) + w] = h.columns;
        return true;
    }

    void write_opened(std::size_t g) {
        bool const good = failed_worker_ == how_.workers;
        packet_.begin(head_.with(omni_kind::opened, g));
        packet_.half(good ? static_cast<std::uint32_t>(no_rank) : static_cast<std::uint32_t>(failed_worker_));
        packet_.word(good ? detail::no_coordinate : error_);
        for (std::size_t c = first_slot(g) * how_.fused; c < last_slot(g) * how_.fused; ++c) packet_.half(next_[c]);
    }
    void open_slots(std::size_t g) {
        if (failed_worker_ < how_.workers) return;
        for (std::size_t s = first_slot(g); s < last_slot(g); ++s) {
            slots_[s].number = 1;
            go_on(s);
            if (over(s, false)) --to_answer_;
        }
    }
    void write_sums(B& on, std::size_t s) {
        auto h = head_.with(omni_kind::sums, s, slots_[s].number);
        auto const first = s * how_.fused, p = static_cast<std::size_t>(how_.workers);
        for (std::size_t f = 0; f < how_.fused; ++f)
            if (here_[first + f] != detail::no_block) h.columns |= 1u << f;
        packet_.begin(h);
        for (std::size_t f = 0; f < how_.fused; ++f) packet_.half(next_[first + f]);
        for (std::size_t f = 0; f < how_.fused; ++f) {
            if ((h.columns >> f & 1) == 0) continue;
            auto const sum = std::span(sum_).first(blocks_.length(here_[first + f]));
            std::fill(sum.begin(), sum.end(), T(0));
            for (std::size_t w = 0; w < p; ++w)
                if ((columns_sent_[s * p + w] >> f & 1) != 0)
                    add_scaled(on, T(1), std::span<T const>(numbers(s, w, f)), sum);
            packet_.numbers(std::span<T const>(sum));
        }
        go_on(s);
    }
    void go_on(std::size_t s) {
        for (std::size_t c = s * how_.fused; c < (s + 1) * how_.fused; ++c) {
            here_[c] = next_[c];
            next_[c] = detail::no_block;
        }
    }

    // To the worker that asks, and to the one that is missing: if that one takes part in another collective, it finds
    // out.
    void send_pending(std::size_t w, omni_header const& h, turn const& t, auto& out) {
        int const lacks = t.seen.first_missing();
        packet_.begin(head_.with(omni_kind::pending, h.slot, h.turn)).half(static_cast<std::uint32_t>(lacks));
        auto const packet = packet_.finish();
        out(static_cast<int>(w), packet);
        out(lacks, packet);
    }

    omni_stream how_;
    detail::omni_blocks blocks_;
    detail::omni_deal columns_;
    std::size_t a_;
    double longest_silence_, gives_up_ = never;
    omni_header head_;
    std::vector<turn> groups_, slots_;
    std::vector<std::uint32_t> here_, next_;   // of its columns: the current block, the least after it
    std::vector<std::uint32_t> columns_sent_;  // for slots and workers: the columns whose numbers came
    std::vector<T> numbers_, sum_;
    detail::node_set left_;
    bool left_alone_ = false;    // the others send nothing any more
    std::size_t to_answer_ = 0;  // the number of groups and slots whose last turn is not over
    int failed_worker_ = 0;      // the first worker with a number that is not finite; the number of workers if none has
    std::uint64_t error_ = 0;    // the first such coordinate
    omni_packet_writer packet_;
};

}  // namespace laconic
