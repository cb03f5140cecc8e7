// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "laconic/backend/host.hpp"
#include "laconic/packet/switch_pool.hpp"
#include "laconic/packet/switch_worker.hpp"

namespace laconic {

/// One node's part in a sum by SwitchML (Sapio et al., NSDI 2021), as worker, as switch, or both: a packet_machine that
/// a udp socket runs, or switch_ml over a communicator. Numbers are added as integers (fixed_point, which states the
/// error), so that the sum has the same bits on every worker, over every network and in whatever order packets come.
/// Doubles are rounded in the same way: to 31 bits and a sign at most. The sum of one worker is its own vector. Reuses
/// its memory from round to round.
template <Scalar T, class B = host>
class switch_machine {
  public:
    /// Throws argument_error for an invalid layout, or a node that it does not have.
    switch_machine(switch_layout const& how, int me, retransmission when = {}) : how_(how), me_(me) {
        how.check();
        if (me < 0 || me >= how.nodes()) throw argument_error({"node ", me, " of ", how.nodes()});
        when.check();
        if (is_worker())
            for (int s = 0; s < how.switches; ++s) workers_.emplace_back(how, me, s, when);
        if (int const which = how.switch_of_node(me); which != no_rank) pool_.emplace(how, which, when);
    }

    /// Starts a new round, in which a worker's x, of d numbers, becomes the sum; a worker whose x has another length
    /// reports that to all. x must stay until the node is done. Round numbers grow with each sum over the same network.
    void begin(std::span<T> x, std::uint64_t round) {
        x_ = x;
        round_ = round;
        started_ = false;
        if (pool_) pool_->begin(round);
        detail::switch_error c;
        c.rank = static_cast<std::uint32_t>(me_);
        if (is_worker() && x.size() != how_.d) {
            c.what = detail::switch_error::disagreement;
            c.theirs = x.size();
            c.ours = how_.d;
        } else if (B on; is_worker()) {
            c.where = first_non_finite(on, std::span<T const>(x));
            if (c.where < x.size()) c.what = detail::switch_error::input;
        }
        for (std::size_t s = 0; s < workers_.size(); ++s) {
            bool const has_error = c.what != detail::switch_error::nothing;
            workers_[s].begin(has_error ? std::span<T>() : how_.parts().of(x, s), round, c);
        }
    }

    void begin(std::uint64_t round) { begin(std::span<T>(), round); }

    void start(double now, auto out) {
        started_ = true;
        for (auto& w : workers_) w.start(now, out);
    }
    bool take(double now, int from, std::span<std::byte const> packet, auto out) {
        if (!started_) return false;
        bool is_new = pool_ && pool_->take(now, from, packet, out);
        if (int const which = how_.switch_of_node(from); which != no_rank && is_worker())
            is_new |= workers_[static_cast<std::size_t>(which)].take(now, packet, out);
        return is_new;
    }
    void wake(double now, auto out) {
        for (auto& w : workers_) w.wake(now, out);
        if (pool_) pool_->wake(now);
    }
    double wakes_at() const {
        double at = pool_ ? pool_->wakes_at() : never;
        for (auto const& w : workers_) at = std::min(at, w.wakes_at());
        return at;
    }
    bool done() const {
        return (!pool_ || pool_->done()) && all_workers([](auto const& w) { return w.done(); });
    }
    int waits_for() const {
        for (auto const& w : workers_)
            if (!w.done()) return w.waits_for();
        return pool_ ? pool_->waits_for() : no_rank;
    }

    /// Whether this worker has all of the sum, although others may still need this node.
    bool has_sum() const {
        return all_workers([](auto const& w) { return w.has_sum(); });
    }
    /// To be called on workers that are done: throws the same on each where there is no sum. non_finite_error for a
    /// rank's numbers and agreement_error for ranks that do not agree on the layout, T or the round: then no numbers
    /// are changed; and for a sum that is not finite. comm_error where a part of it has not come: for callers that
    /// pass on a fixed number of packets themselves.
    void finish() const {
        for (auto const& w : workers_) w.verdict().raise(round_);
        for (auto const& w : workers_) {
            if (w.has_sum()) continue;
            int lacks = w.waits_for();
            if (lacks == me_ && pool_) lacks = pool_->waits_for();  // a switch of this node's own waits for others
            throw comm_error(lacks, {"round ", round_, ": node ", lacks, " has not sent all that the sum is made of"});
        }
        if (all_workers([](auto const& w) { return w.sum_is_finite(); })) return;
        B on;
        throw non_finite_error(non_finite_error::sum, round_, first_non_finite(on, std::span<T const>(x_)));
    }

  private:
    bool is_worker() const { return me_ < how_.workers; }
    bool all_workers(auto such) const { return std::all_of(workers_.begin(), workers_.end(), such); }

    switch_layout how_;
    int me_;
    std::vector<detail::switch_worker<T>> workers_;  // one for each switch
    std::optional<detail::switch_pool<T>> pool_;
    std::span<T> x_;
    std::uint64_t round_ = 0;
    bool started_ = false;
};

}  // namespace laconic
