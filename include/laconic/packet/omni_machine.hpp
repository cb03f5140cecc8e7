// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "laconic/packet/omni_aggregator.hpp"
#include "laconic/packet/omni_worker.hpp"

namespace laconic {

/// One node of the sum of vectors whose zeros come in blocks, over a network that loses packets (OmniReduce, Fei et
/// al., SIGCOMM 2021): a worker, an aggregator, or both. A worker sends those blocks of its vector that are not zero,
/// and receives those in which any worker's is not; the next block in each column is the least of the next blocks of
/// all workers, which they send to the aggregator. Each worker takes each turn, if only to send its next block, so that
/// two turns need to be remembered. Packets that are repeated, late, damaged or from a stranger change nothing, sums
/// are added up in the order of workers, and all workers get the same bits. A block that no worker has is not touched.
///
/// Call begin() each round on every node, then start, take and wake until done(), then finish(). Round numbers grow
/// with each collective over the same network, by less than 2^31, whatever is sent. Reuses its memory.
template <Scalar T, class B = host>
class omni_machine {
  public:
    /// Throws argument_error for a stream that does not pass its check, and for a node that it does not have.
    omni_machine(omni_stream const& how, int node, retransmission when = {}) : how_(how), node_(node), when_(when) {
        how.check();
        when.check();
        if (node < 0 || node >= how.nodes()) throw argument_error({"node ", node, " of ", how.nodes()});
        if (node < how.workers) worker_.emplace(how, node, when);
        if (auto const a = how.aggregator_at(node); a != no_rank)
            aggregator_.emplace(how, static_cast<std::size_t>(a), when);
        refused_by_.resize(static_cast<std::size_t>(how.nodes()));
    }

    /// Starts a new round, in which a worker's x, of d numbers, becomes the sum; a worker whose x has another length
    /// reports that to all. x must stay until the round is done.
    void begin(std::span<T> x, std::uint64_t round) {
        started_ = differs_ = false;
        round_ = round;
        if (worker_) worker_->begin(on_, x, round);
        if (aggregator_) aggregator_->begin(round);
    }
    void begin(std::uint64_t round) { begin(std::span<T>(), round); }

    void start(double now, auto out) {
        started_ = true;
        if (worker_) worker_->start(now, out);
    }
    bool take(double now, int from, std::span<std::byte const> packet, auto out) {
        if (!started_ || from < 0 || from >= how_.nodes()) return false;
        omni_header h;
        if (!read_header(packet, h)) return false;
        auto const ahead = static_cast<std::int32_t>(h.round - static_cast<std::uint32_t>(round_));
        bool const to_aggregator =
            h.kind == omni_kind::opening || h.kind == omni_kind::blocks || h.kind == omni_kind::leaving;
        auto const a = how_.aggregator_at(from);
        if (ahead < 0) {  // the sender has all its sums, and only needs the answer that it left
            if (h.kind != omni_kind::leaving || !aggregator_ || from >= how_.workers) return false;
            h.kind = omni_kind::left;
            out(from, packet_.begin(h).finish());
            return false;
        }
        if (ahead > 0) {  // the sender needs nothing of this round any more
            if (aggregator_ && from < how_.workers && to_aggregator)
                aggregator_->take_left(static_cast<std::size_t>(from));
            if (worker_ && a != no_rank && !to_aggregator) worker_->take_left(now, static_cast<std::size_t>(a));
            return false;
        }
        if (h.kind == omni_kind::refusal || h.digest != how_.digest<T>()) return note_difference(now, from, h, out);
        if (differs_) {
            if (from != node_) send_refusal(from, out);
            return false;
        }
        auto const sent = packet.subspan(omni_header_bytes);
        if (to_aggregator)
            return aggregator_ && from < how_.workers &&
                   aggregator_->take(on_, now, static_cast<std::size_t>(from), h, sent, out);
        return worker_ && a != no_rank && worker_->take(on_, now, static_cast<std::size_t>(a), h, sent, out);
    }
    void wake(double now, auto out) {
        if (differs_) return send_refusals(now, out);
        if (worker_) worker_->wake(now, out);
        if (aggregator_) aggregator_->wake(now);
    }
    double wakes_at() const {
        if (differs_) return resend_at_;
        return std::min(worker_ && !worker_->done() ? worker_->wakes_at() : never,
                        aggregator_ ? aggregator_->wakes_at() : never);
    }
    bool done() const {
        if (differs_)
            return refusals_sent_ == when_.farewells ||
                   std::count(refused_by_.begin(), refused_by_.end(), false) == 1;  // this node's
        return (!worker_ || worker_->done()) && (!aggregator_ || aggregator_->done());
    }
    int waits_for() const {
        if (differs_) return no_rank;
        if (worker_)
            if (int const r = worker_->waits_for(); r != no_rank) return r;
        return aggregator_ ? aggregator_->waits_for() : no_rank;
    }

    /// To be called when done: throws what went wrong. agreement_error where nodes run different collectives; then some
    /// may have been summed, and x is unspecified. shape_error for a vector without d numbers and non_finite_error for
    /// numbers that are not finite, the same on all workers; then x is as it was. Also for a sum that overflowed.
    void finish() const {
        if (differs_)
            throw agreement_error(differs_between_[1], {"nodes ", differs_between_[0], " and ", differs_between_[1],
                                                        " run different collectives"});
        if (!worker_) return;
        if (int const r = worker_->failed_worker(); r != no_rank) {
            auto const what = worker_->error();
            if ((what & detail::other_dimension) == 0)
                throw non_finite_error(r, round_, static_cast<std::size_t>(what));
            throw shape_error({"rank ", r, " has a vector of ", what - detail::other_dimension,
                               " numbers, the collective is for ", how_.d});
        }
        if (worker_->overflow() < how_.d) throw non_finite_error(non_finite_error::sum, round_, worker_->overflow());
    }

  private:
    // A node that finds that nodes differ sends a refusal to all, some times, and to each node that did not know, until
    // all have sent one.
    bool note_difference(double now, int from, omni_header const& h, auto& out) {
        bool const is_new = !differs_;
        if (is_new) {
            differs_ = true;
            refused_by_.assign(refused_by_.size(), false);
            refusals_sent_ = 0;
            differs_between_[0] = h.kind == omni_kind::refusal ? static_cast<int>(h.slot) : node_;
            differs_between_[1] = h.kind == omni_kind::refusal ? static_cast<int>(h.turn) : from;
        }
        refused_by_[static_cast<std::size_t>(from)] = h.kind == omni_kind::refusal;
        if (is_new)
            send_refusals(now, out);
        else if (h.kind != omni_kind::refusal)
            send_refusal(from, out);
        return is_new;
    }
    void send_refusals(double now, auto& out) {
        for (int r = 0; r < how_.nodes(); ++r)
            if (r != node_ && !refused_by_[static_cast<std::size_t>(r)]) send_refusal(r, out);
        resend_at_ = now + std::min(when_.most, when_.first * static_cast<double>(1 << std::min(refusals_sent_, 20)));
        ++refusals_sent_;
    }
    void send_refusal(int r, auto& out) {
        out(r, packet_
                   .begin({how_.digest<T>(), static_cast<std::uint32_t>(round_), omni_kind::refusal, 0,
                           static_cast<std::uint32_t>(differs_between_[0]),
                           static_cast<std::uint32_t>(differs_between_[1])})
                   .finish());
    }

    omni_stream how_;
    int node_;
    retransmission when_;
    B on_{};
    std::optional<omni_worker<T, B>> worker_;
    std::optional<omni_aggregator<T, B>> aggregator_;
    bool started_ = false, differs_ = false;
    std::uint64_t round_ = 0;
    int differs_between_[2] = {no_rank, no_rank};
    std::vector<bool> refused_by_;  // for each node, whether it has sent a refusal
    int refusals_sent_ = 0;         // how often a refusal was sent to all
    double resend_at_ = never;
    omni_packet_writer packet_;
};

}  // namespace laconic
