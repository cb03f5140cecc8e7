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

/// The switch of SwitchML (Sapio et al., NSDI 2021) in software, for one part of the coordinates. It adds integers of
/// 32 bits and takes the greater of exponents; it has a fixed pool of slots, each in two versions with a bitmap of the
/// workers seen. Block b belongs to slot b mod slots, and its version is the parity of b / slots. A worker sends the
/// next block of a slot only when it has the sum of the last, so the first packet for a version proves that every
/// worker has the version's old sum, which may be overwritten; until then requests for it are answered. Before the
/// first block all workers send hello: their settings, and the exponents of their first blocks. So all get the error of
/// a worker that disagrees, or has a number that is not finite, before anything is added. At the end all send bye: the
/// switch is done once all have, or have sent nothing for long after the last sum was sent.
template <Scalar T>
class switch_pool {
  public:
    /// Memory: slots x 2 x (4 block + workers / 8) bytes. Expects arguments that pass their checks.
    switch_pool(switch_layout const& how, int which, retransmission when)
        : how_(how), longest_silence_(16 * when.most), all_(static_cast<std::size_t>(how.workers)) {
        length_ = how.parts().length(static_cast<std::size_t>(which));
        blocks_ = how.blocks(which);
        versions_.resize(2 * std::min(how.slot_count, blocks_));
        for (auto& v : versions_) {
            v.sums.resize(4 * std::min(how.block, length_));
            v.seen.clear(all_);
        }
        first_exponents_.resize(std::min(how.slot_count, blocks_));
        hello_.clear(all_);
        bye_.clear(all_);
        round_of_.resize(all_);
        packet_.resize(how.longest_packet());
    }

    /// Starts a new round; the state of the last is dropped.
    void begin(std::uint64_t round) {
        round_ = round;
        values_ = values_of<T>(how_, round);
        digest_ = digest_of(values_);
        error_ = {};
        hello_.clear();
        bye_.clear();
        blocks_sent_ = 0;
        left_alone_ = false;
        std::fill(first_exponents_.begin(), first_exponents_.end(), no_exponent);
        for (std::size_t i = 0; i < versions_.size(); ++i) {
            versions_[i].seen.clear();
            versions_[i].block = i / 2 + (i % 2) * how_.slot_count;
        }
    }

    bool take(double now, int from, std::span<std::byte const> packet, auto out) {
        auto const h = switch_header::open(packet, how_.checksums);
        if (!h || from < 0 || from >= how_.workers) return false;
        leaves_at_ = now + longest_silence_;
        auto const w = static_cast<std::size_t>(from);
        auto const sent = packet.subspan(switch_header::bytes);
        using enum switch_kind;
        bool const known = hello_.has(w) && h->round == round_of_[w];
        if (h->what == hello && (known || h->round >= round_)) return take_hello(w, *h, sent, out);
        if (known && h->what == bye && hello_.full()) {
            send(from, {good_bye, digest_, h->round}, 0, out);
            return bye_.add(w);
        }
        if (known && h->what == numbers && h->digest == digest_) return take_numbers(w, *h, sent, out);
        // Once this switch is in a later round, all have the sums of those before.
        if (h->round < round_ && h->what == bye) send(from, {good_bye, digest_, h->round}, 0, out);
        if (h->round < round_ && h->what == hello) send(from, {later, digest_, round_}, 0, out);
        return false;
    }

    /// Workers that send nothing any more are taken to have left.
    void wake(double now) { left_alone_ |= now >= wakes_at(); }
    double wakes_at() const { return all_is_sent() && !done() ? leaves_at_ : never; }
    bool done() const { return bye_.full() || left_alone_; }
    /// A worker that it waits for.
    int waits_for() const {
        if (!hello_.full()) return hello_.first_missing();
        if (auto const* v = oldest()) return v->seen.first_missing();
        return done() ? no_rank : bye_.first_missing();
    }

  private:
    struct version {
        std::size_t block = 0;  // the block that is here, or is awaited
        std::int16_t exponent = no_exponent;
        node_set seen;
        std::vector<std::byte> sums;
    };

    bool take_hello(std::size_t w, switch_header const& h, std::span<std::byte const> sent, auto out) {
        std::size_t const fixed = switch_error::bytes + 8 * switch_items.size();
        if (sent.size() < fixed) return false;
        if (hello_.has(w)) {
            if (h.round > round_of_[w])  // it has its sums, and went on although its byes were lost
                return hello_.full() && bye_.add(w);
            if (hello_.full())
                welcome(w, out);
            else
                ask_for_patience(w, blocks_, hello_, out);
            return false;
        }
        auto c = switch_error::take(sent.data());
        if (!c) return false;
        c->rank = static_cast<std::uint32_t>(w);
        for (std::size_t i = switch_items.size(); i-- > 0;) {
            auto const theirs = load_word(sent.data() + switch_error::bytes + 8 * i);
            if (theirs != values_[i]) c = {switch_error::disagreement, c->rank, i, theirs, values_[i]};
        }
        auto const exponents = sent.subspan(fixed);
        if (c->what == switch_error::nothing) {
            if (exponents.size() != 2 * first_exponents_.size()) return false;
            for (std::size_t i = 0; i < first_exponents_.size(); ++i)
                first_exponents_[i] =
                    std::max(first_exponents_[i], load_little<std::int16_t>(exponents.data() + 2 * i));
        }
        error_.add(*c);
        hello_.add(w);
        round_of_[w] = h.round;
        if (hello_.full())
            for (std::size_t to = 0; to < all_; ++to) welcome(to, out);
        return true;
    }

    bool take_numbers(std::size_t w, switch_header const& h, std::span<std::byte const> sent, auto out) {
        if (!hello_.full() || error_.what != switch_error::nothing || h.block >= blocks_) return false;
        std::size_t const b = h.block, slot = b % how_.slot_count, row = b / how_.slot_count;
        auto& v = versions_[2 * slot + row % 2];
        auto const& other = versions_[2 * slot + 1 - row % 2];
        if (sent.size() != 4 * length_of(b)) return false;
        if (v.block != b) {
            // The next block of this slot, which no worker sends before it has the sum of the other version.
            if (b != v.block + 2 * how_.slot_count || !v.seen.full() || other.block + how_.slot_count != b ||
                !other.seen.full())
                return false;
            v.block = b;
            v.seen.clear();
        }
        if (v.seen.has(w)) {
            if (v.seen.full())
                send_sums(static_cast<int>(w), static_cast<int>(w) + 1, v, out);
            else
                ask_for_patience(w, b, v.seen, out);
            return false;
        }
        if (v.seen.size() == 0) {
            v.exponent = h.exponent;
            std::copy(sent.begin(), sent.end(), v.sums.begin());
        } else {
            v.exponent = std::max(v.exponent, h.exponent);
            for (std::size_t i = 0; i < sent.size(); i += 4)
                store_half(v.sums.data() + i, load_half(v.sums.data() + i) + load_half(sent.data() + i));
        }
        v.seen.add(w);
        if (v.seen.full()) {
            ++blocks_sent_;
            send_sums(0, how_.workers, v, out);
        }
        return true;
    }

    void welcome(std::size_t to, auto out) {
        auto* at = packet_.data() + switch_header::bytes;
        error_.put(at);
        at += switch_error::bytes;
        for (std::size_t i = 0; i < first_exponents_.size(); ++i) store_little(at + 2 * i, first_exponents_[i]);
        send(static_cast<int>(to), {switch_kind::welcome, digest_, round_of_[to]},
             switch_error::bytes + 2 * first_exponents_.size(), out);
    }
    void send_sums(int first, int last, version const& v, auto out) {
        std::size_t const n = 4 * length_of(v.block);
        auto const packet = std::span(packet_).first(switch_header::bytes + n);
        std::copy_n(v.sums.data(), n, packet.data() + switch_header::bytes);
        switch_header{switch_kind::sums, digest_, round_, static_cast<std::uint32_t>(v.block), v.exponent}.seal(
            packet, how_.checksums);
        for (int to = first; to < last; ++to) out(to, std::span<std::byte const>(packet));
    }
    // For block b; b = blocks_ for a hello.
    void ask_for_patience(std::size_t to, std::size_t b, node_set const& seen, auto out) {
        store_half(packet_.data() + switch_header::bytes, static_cast<std::uint32_t>(seen.first_missing()));
        send(static_cast<int>(to), {switch_kind::patience, digest_, round_of_[to], static_cast<std::uint32_t>(b)}, 4,
             out);
    }
    void send(int to, switch_header const& h, std::size_t bytes, auto out) {
        auto const packet = std::span(packet_).first(switch_header::bytes + bytes);
        h.seal(packet, how_.checksums);
        out(to, std::span<std::byte const>(packet));
    }

    bool all_is_sent() const {
        return hello_.full() && (blocks_sent_ == blocks_ || error_.what != switch_error::nothing);
    }
    std::size_t length_of(std::size_t b) const { return std::min(how_.block, length_ - b * how_.block); }

    // The version of the lowest block that some workers have sent and others not.
    version const* oldest() const {
        version const* found = nullptr;
        for (auto const& v : versions_)
            if (v.seen.size() > 0 && !v.seen.full() && (!found || v.block < found->block)) found = &v;
        return found;
    }

    switch_layout how_;
    double longest_silence_, leaves_at_ = never;
    std::size_t all_, length_ = 0, blocks_ = 0, blocks_sent_ = 0;
    bool left_alone_ = false;
    std::uint64_t round_ = 0, digest_ = 0;
    switch_values values_{};
    switch_error error_;
    std::vector<version> versions_;  // those of slot s are 2 s and 2 s + 1
    std::vector<std::int16_t> first_exponents_;
    node_set hello_, bye_;
    std::vector<std::uint64_t> round_of_;  // the round of each worker's hello
    std::vector<std::byte> packet_;
};

}  // namespace laconic::detail
