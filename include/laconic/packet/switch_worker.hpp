// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "laconic/comm/packet_machine.hpp"
#include "laconic/packet/switch_packet.hpp"

namespace laconic::detail {

/// A worker's side of a switch_pool, for the part of the coordinates that this switch adds up. Each slot has one block
/// in flight; its sum allows the worker to send the next one. Sums replace the worker's numbers block by block. Packets
/// that are not answered in time are sent again, made anew from the numbers, which stay until the sum comes.
template <Scalar T>
class switch_worker {
  public:
    /// Expects arguments that pass their checks.
    switch_worker(switch_layout const& how, int rank, int which, retransmission when)
        : how_(how),
          rank_(rank),
          switch_(how.node_of_switch(which)),
          blocks_(how.blocks(which)),
          when_(when),
          asked_(when) {
        slots_.resize(std::min(how.slot_count, blocks_));
        packet_.resize(how.longest_packet());
    }

    /// Starts a new round with this rank's numbers of the part, which are not read if there is an error.
    void begin(std::span<T> x, std::uint64_t round, switch_error const& error) {
        x_ = x;
        round_ = own_round_ = round;
        values_ = values_of<T>(how_, round);
        digest_ = digest_of(values_);
        error_ = error;
        verdict_ = {};
        sum_is_finite_ = true;
        missing_ = switch_;
        resent_ = 0;
        now_ = before;
        asked_.reset(slots_.size() + 2, 1);
        if (error.what != switch_error::nothing) return;
        for (std::size_t s = 0; s < slots_.size(); ++s) slots_[s] = {s, no_exponent, exponent_of_block(s)};
    }

    void start(double now, auto out) {
        now_ = greets;
        send_hello(now, out);
    }

    bool take(double now, std::span<std::byte const> packet, auto out) {
        auto const h = switch_header::open(packet, how_.checksums);
        if (!h || now_ == before || now_ == gone) return false;
        auto const sent = packet.subspan(switch_header::bytes);
        using enum switch_kind;
        if (h->what == later) return take_later(now, *h, out);
        if (h->round != round_) return false;
        resent_ = 0;
        if (h->what == patience) be_patient(now, *h, sent);
        if (h->what == welcome && now_ == greets) return take_welcome(now, *h, sent, out);
        if (h->what == sums && now_ == streams && h->digest == digest_) return take_sums(now, *h, sent, out);
        return h->what == good_bye && now_ == leaves && finish_leaving();
    }

    void wake(double now, auto out) {
        bool again = false;
        asked_.each_late(now, [&](std::size_t i) {
            again = true;
            if (i < slots_.size()) return send_numbers(now, i, out);
            if (i == hello()) return send_hello(now, out);
            if (asked_.times(i) < when_.farewells) return send_bye(now, out);
            asked_.forget(i);  // the worker has its sum, and the switch has left, or will notice
            now_ = gone;
        });
        if (again && ++resent_ > 2) missing_ = switch_;  // else it would have named the worker that it waits for
    }

    double wakes_at() const { return done() ? never : asked_.wakes_at(); }
    bool done() const { return now_ == gone; }
    int waits_for() const { return done() ? no_rank : missing_; }

    /// Whether the sum is here, whether it is finite, and the error that all ranks got, if there is no sum.
    bool has_sum() const { return (now_ == leaves || now_ == gone) && verdict_.what == switch_error::nothing; }
    bool sum_is_finite() const { return sum_is_finite_; }
    switch_error const& verdict() const { return verdict_; }

  private:
    struct slot {
        std::size_t block;      // the block in flight; none if it is blocks_ or more
        std::int16_t exponent;  // of that block, over all workers
        std::int16_t own_next;  // of the next one, on this worker
    };

    // The numbers of packets that wait for an answer: the block of each slot, and these.
    std::size_t hello() const { return slots_.size(); }
    std::size_t bye() const { return slots_.size() + 1; }

    std::span<T> block(std::size_t b) const {
        return x_.subspan(b * how_.block, std::min(how_.block, x_.size() - b * how_.block));
    }
    std::int16_t exponent_of_block(std::size_t b) const {
        return b < blocks_ ? exponent_of(std::span<T const>(block(b))) : no_exponent;
    }

    void send_hello(double now, auto out) {
        auto* at = packet_.data() + switch_header::bytes;
        error_.put(at);
        at += switch_error::bytes;
        for (std::size_t i = 0; i < values_.size(); ++i, at += 8) store_word(at, values_[i]);
        std::size_t n = switch_error::bytes + 8 * values_.size();
        if (error_.what == switch_error::nothing) {
            for (std::size_t i = 0; i < slots_.size(); ++i) store_little(at + 2 * i, slots_[i].own_next);
            n += 2 * slots_.size();
        }
        asked_.sent(hello(), 0, now);
        send({switch_kind::hello, digest_, round_}, n, out);
    }
    bool take_welcome(double now, switch_header const& h, std::span<std::byte const> sent, auto out) {
        if (sent.size() < switch_error::bytes) return false;
        auto const verdict = switch_error::take(sent.data());
        if (!verdict) return false;
        if (verdict->what != switch_error::nothing) {
            verdict_ = *verdict;
            asked_.forget(hello());
            leave(now, out);
            return true;
        }
        // A switch without an error has an older hello of this rank, and this one has no vector to send.
        if (error_.what != switch_error::nothing) return false;
        auto const exponents = sent.subspan(switch_error::bytes);
        if (h.digest != digest_ || exponents.size() != 2 * slots_.size()) return false;
        for (std::size_t i = 0; i < slots_.size(); ++i)
            if (load_little<std::int16_t>(exponents.data() + 2 * i) < slots_[i].own_next) return false;
        now_ = streams;
        missing_ = switch_;
        asked_.reset(slots_.size() + 2, 1);  // the welcome waited for all workers, so its time is no round trip
        left_ = blocks_;
        for (std::size_t i = 0; i < slots_.size(); ++i)
            send(now, i, i, load_little<std::int16_t>(exponents.data() + 2 * i), out);
        if (left_ == 0) leave(now, out);
        return true;
    }
    bool take_sums(double now, switch_header const& h, std::span<std::byte const> sent, auto out) {
        std::size_t const i = h.block % how_.slot_count;
        // An exponent below this worker's own would let numbers overflow: no switch sends one.
        if (i >= slots_.size() || slots_[i].block != h.block || !asked_.waits(i) || h.exponent < slots_[i].own_next)
            return false;
        slot const s = slots_[i];
        auto const x = block(s.block);
        if (sent.size() != 4 * x.size()) return false;
        sum_is_finite_ &= fixed_point(how_.workers, s.exponent).take(sent.data(), x);
        asked_.answered(i, now);
        missing_ = switch_;
        if (std::size_t const next = s.block + how_.slot_count; next < blocks_) send(now, i, next, h.exponent, out);
        if (--left_ == 0) leave(now, out);
        return true;
    }
    // The switch has received the repeated packet, and names the worker that it waits for.
    void be_patient(double now, switch_header const& h, std::span<std::byte const> sent) {
        if (sent.size() != 4) return;
        if (auto const whom = load_half(sent.data()); whom < static_cast<std::uint32_t>(how_.workers))
            missing_ = static_cast<int>(whom);
        // This answer came at once; sums wait for the packets of the others, and for those that were lost.
        std::size_t const i = h.block % how_.slot_count;
        if (i < slots_.size() && slots_[i].block == h.block) asked_.had(i, now);
    }
    // The switch is in a later round. A worker that has its sum may leave; another joins that round with an error.
    bool take_later(double now, switch_header const& h, auto out) {
        if (h.round <= round_) return false;
        if (now_ == leaves) return finish_leaving();
        if (now_ != greets) return false;
        round_ = h.round;
        error_.add({switch_error::disagreement, static_cast<std::uint32_t>(rank_), switch_items.size() - 1, own_round_,
                    round_});
        send_hello(now, out);
        return true;
    }

    // Sends block b of slot i, whose exponent all workers have agreed on.
    void send(double now, std::size_t i, std::size_t b, std::int16_t exponent, auto out) {
        slots_[i] = {b, exponent, exponent_of_block(b + how_.slot_count)};
        send_numbers(now, i, out);
    }
    void send_numbers(double now, std::size_t i, auto out) {
        slot const s = slots_[i];
        auto const x = block(s.block);
        fixed_point(how_.workers, s.exponent).put(std::span<T const>(x), packet_.data() + switch_header::bytes);
        asked_.sent(i, 0, now);
        send({switch_kind::numbers, digest_, round_, static_cast<std::uint32_t>(s.block), s.own_next}, 4 * x.size(),
             out);
    }
    void leave(double now, auto out) {
        now_ = leaves;
        missing_ = switch_;
        send_bye(now, out);
    }
    bool finish_leaving() {
        asked_.forget(bye());
        now_ = gone;
        return true;
    }
    void send_bye(double now, auto out) {
        asked_.sent(bye(), 0, now);
        send({switch_kind::bye, digest_, round_}, 0, out);
    }
    void send(switch_header const& h, std::size_t bytes, auto out) {
        auto const packet = std::span(packet_).first(switch_header::bytes + bytes);
        h.seal(packet, how_.checksums);
        out(switch_, std::span<std::byte const>(packet));
    }

    switch_layout how_;
    int rank_, switch_;
    std::size_t blocks_;
    retransmission when_;
    unanswered asked_;
    std::span<T> x_;
    std::uint64_t round_ = 0, own_round_ = 0, digest_ = 0;
    switch_values values_{};
    switch_error error_, verdict_;
    enum { before, greets, streams, leaves, gone } now_ = before;
    std::vector<slot> slots_;
    std::size_t left_ = 0;  // blocks whose sums are not here
    bool sum_is_finite_ = true;
    int missing_ = no_rank, resent_ = 0;  // packets sent again since the last packet of the switch
    std::vector<std::byte> packet_;
};

}  // namespace laconic::detail
