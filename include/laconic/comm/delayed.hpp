// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <span>
#include <vector>

#include "laconic/comm/communicator.hpp"
#include "laconic/comm/network.hpp"
#include "laconic/core/kept.hpp"

namespace laconic {

/// Simulates a network for the ranks of any engine: each rank has a clock in seconds from 0, which only this class
/// moves, and what is sent arrives at the time at which the network would have delivered it. No call really waits for
/// that, so the clocks are the same on every machine.
/// - exchange: the message leaves when its sender's clock and port allow; the sender goes on, the receiver's clock
///   moves to its arrival. Messages that come at the same time through one port in are served one after the other.
/// - all_gather goes around a ring: in P - 1 steps each rank sends to rank + 1 what it received in the step before.
/// - gather: each rank sends to the root, which receives in the order of ranks; broadcast: the root sends to each, too.
/// - start_all_gather, finish: the same ring from the start's time on, while the ranks compute; finish moves the clock
///   to the ring's end, if that is later. The ring of the next lane sends its first message when it is started and the
///   ring before has sent its last.
/// Where one port serves both ways, what a rank sends goes before what it has not yet received. Not modelled: links
/// that several ranks share (see racks), lost packets, and a port's work for messages that its rank receives later.
/// What a rank sends to itself takes no time. The times travel in front of the messages and in collective calls of
/// their own: count bytes above this (metered over delayed). Every rank must be given the same network.
template <PointToPoint C>
class delayed {
  public:
    /// Throws argument_error for a network of negative or infinite seconds.
    delayed(C& inner, network how) : inner_(inner), net_(how) {
        how.check();
        arrivals_.resize(static_cast<std::size_t>(size()));
    }

    int rank() const { return inner_->rank(); }
    int size() const { return inner_->size(); }

    /// This rank's time, in seconds.
    double clock() const { return mine_.now; }
    /// Adds the time that this rank computes. Throws argument_error unless it is finite and at least 0.
    void compute(double seconds) {
        detail::check_work(seconds);
        mine_.now += seconds;
    }

    void all_gather(payload mine) {
        under_way_.check_none();
        start_all_gather(mine);
        finish();
    }
    void start_all_gather(payload mine, int lane = 0) {
        under_way_.start(lane, [&] { started_[lane] = {mine, mine_.now}; });
    }
    void finish(int lane = 0) {
        under_way_.finish(lane, [&] { finish(started_[lane]); });
    }
    void gather(int root, payload mine) {
        under_way_.check_none();
        double const there = rank() == root ? mine_.now : mine_.send(net_, net_.busy(mine.bytes.size()));
        inner_->gather(root, {bytes_of(there)});
        for (int r = 0; r < size() && rank() == root; ++r) arrival(r) = detail::value_from<double>(*inner_, r, times);
        inner_->gather(root, mine);
        for (int r = 0; r < size() && rank() == root; ++r)
            if (r != root) mine_.receive(arrival(r), net_.busy(from(r).bytes.size()));
    }
    void broadcast(int root, payload mine) {
        under_way_.check_none();
        if (rank() == root)
            for (int r = 0; r < size(); ++r)
                if (r != root) arrival(r) = mine_.send(net_, net_.busy(mine.bytes.size()));
        inner_->broadcast(root, {std::as_bytes(std::span(arrivals_))});
        auto const all = std::as_writable_bytes(std::span(arrivals_));
        std::memcpy(all.data(), detail::bytes_from(*inner_, root, all.size(), times).data(), all.size());
        inner_->broadcast(root, mine);
        if (rank() != root) mine_.receive(arrival(rank()), net_.busy(from(root).bytes.size()));
    }
    payload from(int r) const { return inner_->from(r); }

    payload exchange(int to, payload mine, int from) {
        detail::check_partners(size(), to, from);
        under_way_.check_none();
        payload stamped;
        if (to != no_rank) {
            double const there = to == rank() ? mine_.now : mine_.send(net_, net_.busy(mine.bytes.size()));
            auto const when = bytes_of(there);
            stamped_.assign(when.begin(), when.end());
            stamped_.insert(stamped_.end(), mine.bytes.begin(), mine.bytes.end());
            stamped = {stamped_, mine.is_error};
        }
        auto const received = inner_->exchange(to, stamped, from);
        if (from == no_rank) return {};
        double there = 0;
        if (received.bytes.size() < sizeof there)
            throw comm_error(from, {"rank ", from, " sends no times: its network is not delayed"});
        std::memcpy(&there, received.bytes.data(), sizeof there);
        auto const bytes = received.bytes.subspan(sizeof there);
        mine_.receive(there, net_.busy(bytes.size()), from == rank());
        return {bytes, received.is_error};
    }

    /// The communicator underneath: calls to it directly take no time.
    C& inner() const { return *inner_; }

  private:
    static constexpr char const* times = "the times of a delayed network";
    struct stamp {
        detail::port_clock at;
        double busy = 0;
    };

    struct start {
        payload mine{};
        double now = 0;
    };

    void finish(start const& begun) {
        stamp begin{mine_, net_.busy(begun.mine.bytes.size())};  // the ports as the previous lane has left them
        begin.at.now = begun.now;
        inner_->gather(0, {bytes_of(begin)});
        if (rank() == 0) go_around();
        inner_->broadcast(0, {std::as_bytes(std::span(all_))});
        auto const ended = detail::bytes_from(*inner_, 0, static_cast<std::size_t>(size()) * sizeof(stamp), times);
        double const now = mine_.now;
        std::memcpy(&mine_, ended.data() + static_cast<std::size_t>(rank()) * sizeof(stamp), sizeof mine_);
        mine_.now = std::max(mine_.now, now);
        inner_->all_gather(begun.mine);
    }

    static std::span<std::byte const> bytes_of(auto const& x) { return std::as_bytes(std::span(&x, 1)); }
    double& arrival(int r) { return arrivals_[static_cast<std::size_t>(r)]; }

    // On rank 0: all_ <- the clocks at the end of the ring.
    void go_around() {
        auto const n = arrivals_.size();
        all_.resize(n);
        for (std::size_t r = 0; r < n; ++r) all_[r] = detail::value_from<stamp>(*inner_, static_cast<int>(r), times);
        for (std::size_t step = 0; step + 1 < n; ++step) {
            // In this step r sends the message of rank r - step.
            auto const busy = [&](std::size_t r) { return all_[r < step ? r + n - step : r - step].busy; };
            for (std::size_t r = 0; r < n; ++r) arrivals_[r] = all_[r].at.send(net_, busy(r));
            for (std::size_t r = 0; r < n; ++r) all_[r + 1 < n ? r + 1 : 0].at.receive(arrivals_[r], busy(r));
        }
    }

    detail::kept<C> inner_;
    network net_;
    detail::port_clock mine_;
    detail::under_way under_way_;
    detail::per_lane<start> started_;
    std::vector<std::byte> stamped_;
    std::vector<double> arrivals_;  // the arrival times at each rank, or from it
    std::vector<stamp> all_;
};

}  // namespace laconic
