// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "laconic/comm/communicator.hpp"
#include "laconic/core/error.hpp"
#include "laconic/core/text.hpp"

namespace laconic {

/// What messages take between any two ranks. Each rank has a port out and a port in, which serve one message at a time
/// each: a message of b bits keeps them busy for overhead + b x seconds_per_bit, and is on its way for as long and the
/// latency. So alpha of the alpha-beta model is latency + overhead, and beta seconds_per_bit.
struct network {
    double latency = 0;          ///< seconds
    double seconds_per_bit = 0;  ///< 1 / bandwidth
    double overhead = 0;         ///< seconds

    double busy(std::size_t bytes) const { return overhead + 8.0 * static_cast<double>(bytes) * seconds_per_bit; }
    /// Throws argument_error unless all are finite and at least 0.
    void check() const {
        for (double const v : {latency, seconds_per_bit, overhead})
            if (!(v >= 0 && v <= 1e300))
                throw argument_error("a network with " + shortest(v) + " seconds: they are finite and at least 0");
    }
};

namespace detail {

/// A rank's time and its ports'.
struct port_clock {
    double now = 0;
    double out_free = 0;
    double in_since = 0, in_free = 0;  // when the port was busy last, without a pause

    /// Sends a message as soon as the port is free, and goes on. Returns when it is there, if the port there is free.
    double send(network const& net, double busy) {
        out_free = std::max(now, out_free) + busy;
        return out_free + net.latency;
    }
    /// Waits for a message. What comes while the port serves another one waits; what came before that passes.
    void receive(double there, double busy) {
        if (there > in_since) {
            if (there - busy < in_free) {
                there = in_free + busy;
            } else if (there - busy > in_free) {
                in_since = there - busy;
            }
            in_free = there;
        }
        now = std::max(now, there);
    }
};

}  // namespace detail

/// Lets the ranks of any engine talk over a network that is not there: each has a clock, which only this moves, in
/// seconds from 0, and what is handed over arrives when the network would have brought it. Nothing really waits for it,
/// so the clocks are the same on every machine, and with fibers thousands of ranks are timed in one process.
/// - exchange: the message leaves when its sender's clock and port allow; the sender goes on, the receiver's clock
///   moves to its arrival. A port in serves messages in the order in which its rank takes them.
/// - all_gather goes around a ring: in P - 1 steps each rank sends rank + 1 what it heard in the step before.
/// - gather: each rank sends to the root, which takes them in the order of ranks; broadcast: the root sends to each
///   rank, in that order. Other schedules are written with exchange.
/// What a rank hands itself takes no time. The times travel in front of the messages and in meetings of their own:
/// count above this (metered over delayed), where only what is said is seen. Every rank gives the same network.
template <PointToPoint C>
class delayed {
  public:
    /// Throws argument_error for a network of negative or infinite seconds.
    delayed(C& inner, network how) : inner_(&inner), net_(how) {
        how.check();
        arrivals_.resize(static_cast<std::size_t>(size()));
    }

    int rank() const { return inner_->rank(); }
    int size() const { return inner_->size(); }

    /// This rank's time, in seconds.
    double clock() const { return mine_.now; }
    /// This rank works for so long. Throws argument_error unless that is finite and at least 0.
    void compute(double seconds) {
        if (!(seconds >= 0 && seconds <= 1e300))
            throw argument_error("a rank works for " + shortest(seconds) + " seconds: at least 0, and finite");
        mine_.now += seconds;
    }

    void all_gather(contribution mine) {
        stamp const begin{mine_, net_.busy(mine.bytes.size())};
        inner_->gather(0, {bytes_of(begin)});
        if (rank() == 0) go_around();
        inner_->broadcast(0, {std::as_bytes(std::span(all_))});
        auto const ended = inner_->from(0).bytes;
        if (ended.size() != static_cast<std::size_t>(size()) * sizeof(stamp)) no_times_from(0);
        std::memcpy(&mine_, ended.data() + static_cast<std::size_t>(rank()) * sizeof(stamp), sizeof mine_);
        inner_->all_gather(mine);
    }
    void gather(int root, contribution mine) {
        double const there = rank() == root ? mine_.now : mine_.send(net_, net_.busy(mine.bytes.size()));
        inner_->gather(root, {bytes_of(there)});
        for (int r = 0; r < size() && rank() == root; ++r) read(r, inner_->from(r), arrival(r));
        inner_->gather(root, mine);
        for (int r = 0; r < size() && rank() == root; ++r)
            if (r != root) mine_.receive(arrival(r), net_.busy(from(r).bytes.size()));
    }
    void broadcast(int root, contribution mine) {
        if (rank() == root)
            for (int r = 0; r < size(); ++r)
                if (r != root) arrival(r) = mine_.send(net_, net_.busy(mine.bytes.size()));
        inner_->broadcast(root, {std::as_bytes(std::span(arrivals_))});
        if (inner_->from(root).bytes.size() != arrivals_.size() * sizeof(double)) no_times_from(root);
        std::memcpy(arrivals_.data(), inner_->from(root).bytes.data(), arrivals_.size() * sizeof(double));
        inner_->broadcast(root, mine);
        if (rank() != root) mine_.receive(arrival(rank()), net_.busy(from(root).bytes.size()));
    }
    contribution from(int r) const { return inner_->from(r); }

    contribution exchange(int to, contribution mine, int from) {
        detail::check_partners(size(), to, from);
        contribution stamped;
        if (to != no_rank) {
            double const there = to == rank() ? mine_.now : mine_.send(net_, net_.busy(mine.bytes.size()));
            auto const when = bytes_of(there);
            said_.assign(when.begin(), when.end());
            said_.insert(said_.end(), mine.bytes.begin(), mine.bytes.end());
            stamped = {said_, mine.complaint};
        }
        auto const heard = inner_->exchange(to, stamped, from);
        if (from == no_rank) return {};
        double there = 0;
        if (heard.bytes.size() < sizeof there) no_times_from(from);
        std::memcpy(&there, heard.bytes.data(), sizeof there);
        auto const bytes = heard.bytes.subspan(sizeof there);
        if (from == rank())
            mine_.now = std::max(mine_.now, there);
        else
            mine_.receive(there, net_.busy(bytes.size()));
        return {bytes, heard.complaint};
    }

    /// The communicator underneath: what goes through it directly takes no time.
    C& inner() const { return *inner_; }

  private:
    struct stamp {
        detail::port_clock at;
        double busy = 0;
    };

    template <class X>
    static std::span<std::byte const> bytes_of(X const& x) {
        return std::as_bytes(std::span(&x, 1));
    }
    [[noreturn]] static void no_times_from(int r) {
        throw comm_error(r, "rank " + std::to_string(r) + " sends no times: its network is not delayed");
    }
    template <class X>
    static void read(int r, contribution heard, X& x) {
        if (heard.bytes.size() != sizeof x) no_times_from(r);
        std::memcpy(&x, heard.bytes.data(), sizeof x);
    }
    double& arrival(int r) { return arrivals_[static_cast<std::size_t>(r)]; }

    // On rank 0: all_ <- when everyone is through with the ring.
    void go_around() {
        auto const n = arrivals_.size();
        all_.resize(n);
        for (std::size_t r = 0; r < n; ++r) read(static_cast<int>(r), inner_->from(static_cast<int>(r)), all_[r]);
        for (std::size_t step = 0; step + 1 < n; ++step) {
            // In this step r hands on what rank r - step has said.
            auto const busy = [&](std::size_t r) { return all_[r < step ? r + n - step : r - step].busy; };
            for (std::size_t r = 0; r < n; ++r) arrivals_[r] = all_[r].at.send(net_, busy(r));
            for (std::size_t r = 0; r < n; ++r) all_[r + 1 < n ? r + 1 : 0].at.receive(arrivals_[r], busy(r));
        }
    }

    C* inner_;
    network net_;
    detail::port_clock mine_;
    std::vector<std::byte> said_;
    std::vector<double> arrivals_;  // at each rank, or from it
    std::vector<stamp> all_;
};

}  // namespace laconic
