// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <queue>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "laconic/comm/recorded.hpp"

namespace laconic {

/// A network whose ranks stand in racks, 0 .. per_rack - 1 in the first. Messages from rack to rack also pass an uplink
/// and a downlink, which all ranks of a rack share.
struct racks {
    network ports{};   ///< a rank's ports, and the way within its rack
    int per_rack = 0;  ///< 0: all ranks are in one rack
    network links{};   ///< a rack's links; their latency comes once, on top of that of the ports

    /// Throws argument_error for a network of negative or infinite seconds, or a negative number of ranks a rack.
    void check() const {
        ports.check();
        links.check();
        if (per_rack < 0) throw argument_error({"racks of ", per_rack, " ranks"});
    }
    int rack_of(int rank) const { return per_rack > 0 ? rank / per_rack : 0; }
};

namespace detail {

/// Replays all ranks, in the order of time wherever ranks share a link. A link serves one message at a time, first the
/// one whose first bit arrives first, of equal ones that of the lowest rank; it passes bits on as they come. All else
/// is as in `delayed`. So every number depends on the logs alone.
class replayer {
  public:
    replayer(racks const& how, std::span<std::vector<log_entry> const> logs)
        : how_(how), logs_(logs), states_(logs.size()) {
        auto const n = logs.size();
        for (std::size_t r = 0; r < n; ++r) {
            std::vector<std::uint64_t> gathered;
            for (auto const& d : logs[r])
                if (d.to == log_entry::everyone)
                    gathered.push_back(d.bytes);
                else
                    check_partners(static_cast<int>(n), d.to, d.from);
            if (r > 0 && gathered.size() != rounds_)
                throw argument_error({"rank ", r, " was in ", gathered.size(), " all-gathers, rank 0 in ", rounds_});
            rounds_ = gathered.size();
            gathered_.insert(gathered_.end(), gathered.begin(), gathered.end());
        }
        links_.resize(n == 0 ? 0 : 2 * (static_cast<std::size_t>(how.rack_of(static_cast<int>(n) - 1)) + 1));
    }

    /// The time at which each rank is done. Throws comm_error where one waits for what no rank sent.
    std::vector<double> operator()() {
        for (std::size_t r = states_.size(); r-- > 0;) ready_.push_back(static_cast<int>(r));
        while (!ready_.empty() || !under_way_.empty()) {
            if (!ready_.empty()) {
                int const rank = ready_.back();
                ready_.pop_back();
                resume(rank);
            } else {
                auto const m = under_way_.top();
                under_way_.pop();
                pass(m);
            }
        }
        std::vector<double> ends;
        for (std::size_t r = 0; r < states_.size(); ++r) {
            if (states_[r].next < logs_[r].size())
                throw comm_error(states_[r].waits_for, describe_waits(static_cast<int>(r), [&](int other) {
                                     return states_[static_cast<std::size_t>(other)].waits_for;
                                 }));
            ends.push_back(states_[r].at.now);
        }
        return ends;
    }

  private:
    struct rank_state {
        port_clock at;
        std::size_t next = 0, step = 0, round = 0;  // the next entry; the step of an all-gather; the number of that
        double worked = 0;                          // the time at which its computation for this entry is done
        bool sent = false;                          // whether it has sent this entry's message
        int waits_for = no_rank;
        // By sender, and whether it is part of a collective call: the time of arrival, and the number of bytes.
        std::multimap<std::pair<int, bool>, std::pair<double, std::uint64_t>> here;
    };
    // A message in flight between racks.
    struct message {
        double first, last;  // the times at which its first and last bits are at the next link
        int from, to;
        std::uint64_t number;  // counted over the messages between racks
        std::uint64_t bytes;
        bool collective, down;

        bool operator<(message const& other) const {  // the largest is next
            return std::tie(other.first, other.from, other.number) < std::tie(first, from, number);
        }
    };

    // Runs a rank until it must wait.
    void resume(int rank) {
        rank_state& my = at(rank);
        auto const& log = logs_[static_cast<std::size_t>(rank)];
        auto const n = states_.size(), me = static_cast<std::size_t>(rank);
        while (my.next < log.size()) {
            auto now = log[my.next];
            bool const ring = now.to == log_entry::everyone;
            if (ring && my.step + 1 < n) {
                now.to = static_cast<int>((me + 1) % n);
                now.from = static_cast<int>((me + n - 1) % n);
                now.bytes = gathered_[(me + n - my.step) % n * rounds_ + my.round];
            } else if (ring) {
                now.to = now.from = no_rank;
            }
            if (!my.sent) {
                if (my.step == 0) {
                    my.worked = my.at.now + now.seconds;
                    if (!now.meanwhile) my.at.now = my.worked;
                }
                if (now.to != no_rank) send(rank, now);
                my.sent = true;
            }
            if (now.from != no_rank && !take(rank, {now.from, now.collective})) {
                my.waits_for = now.from;
                return;
            }
            my.sent = false;
            if (ring && ++my.step + 1 < n) continue;
            my.at.now = std::max(my.at.now, my.worked);
            my.round += ring;
            my.step = 0;
            ++my.next;
        }
    }
    void send(int rank, log_entry const& d) {
        auto& clock = at(rank).at;
        if (d.to == rank) return arrive(d.to, {rank, d.collective}, clock.now, d.bytes);
        double const busy = how_.ports.busy(d.bytes), left = clock.leave(how_.ports, busy);
        if (how_.rack_of(rank) == how_.rack_of(d.to))
            return arrive(d.to, {rank, d.collective}, left + how_.ports.latency, d.bytes);
        under_way_.push({left - busy, left, rank, d.to, sent_++, d.bytes, d.collective, false});
    }
    void pass(message m) {
        auto const rack = 2 * static_cast<std::size_t>(how_.rack_of(m.down ? m.to : m.from));
        double& free = links_[m.down && !how_.links.half_duplex ? rack + 1 : rack];
        m.first = std::max(m.first, free);
        free = m.first + how_.links.busy(m.bytes);
        m.last = std::max(m.last, free);
        if (!m.down) {
            m.first += how_.links.latency;
            m.last += how_.links.latency;
            m.down = true;
            return under_way_.push(m);
        }
        arrive(m.to, {m.from, m.collective}, m.last + how_.ports.latency, m.bytes);
    }
    void arrive(int to, std::pair<int, bool> from, double there, std::uint64_t bytes) {
        at(to).here.emplace(from, std::pair(there, bytes));
        if (at(to).waits_for != from.first) return;  // it checks itself whether this is the one
        at(to).waits_for = no_rank;
        ready_.push_back(to);
    }
    bool take(int rank, std::pair<int, bool> from) {
        rank_state& my = at(rank);
        auto const first = my.here.lower_bound(from);
        if (first == my.here.end() || first->first != from) return false;
        auto const [there, bytes] = first->second;
        my.here.erase(first);
        my.at.receive(there, how_.ports.busy(bytes), from.first == rank);
        return true;
    }
    rank_state& at(int rank) { return states_[static_cast<std::size_t>(rank)]; }

    racks how_;
    std::span<std::vector<log_entry> const> logs_;
    std::vector<rank_state> states_;
    std::size_t rounds_ = 0;               // the number of all-gathers
    std::vector<std::uint64_t> gathered_;  // bytes in each of them, rank after rank
    std::vector<double> links_;            // the times at which they are free: of each rack, up and down
    std::vector<int> ready_;               // ranks that can go on; links serve messages only after they have
    std::priority_queue<message> under_way_;
    std::uint64_t sent_ = 0;
};

}  // namespace detail

/// The time at which each rank is done, in seconds from 0, if the ranks do what was recorded over this network: the
/// same numbers on every machine. Packets are not lost, and a link serves whole messages one by one. Throws
/// argument_error for an invalid network or logs of different all-gathers, comm_error where a rank waits for what no
/// rank sent.
inline std::vector<double> replay(racks const& how, std::span<std::vector<log_entry> const> logs) {
    how.check();
    return detail::replayer(how, logs)();
}

/// The time at which this rank is done, in seconds, if the ranks do what each has recorded over this network: each rank
/// replays what all have recorded. A collective call, which is not recorded itself. Throws as replay(), on every rank.
template <PointToPoint C>
double replayed_clock(recorded<C>& comm, racks const& how) {
    auto& inner = comm.inner();
    inner.all_gather({std::as_bytes(std::span(comm.log()))});
    std::vector<std::vector<log_entry>> logs(static_cast<std::size_t>(comm.size()));
    for (std::size_t r = 0; r < logs.size(); ++r) {
        auto const bytes = inner.from(static_cast<int>(r)).bytes;
        logs[r].resize(bytes.size() / sizeof(log_entry));
        if (!logs[r].empty()) std::memcpy(logs[r].data(), bytes.data(), logs[r].size() * sizeof(log_entry));
    }
    return replay(how, logs)[static_cast<std::size_t>(comm.rank())];
}

}  // namespace laconic
