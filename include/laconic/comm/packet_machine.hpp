// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <limits>
#include <span>
#include <vector>

#include "laconic/comm/communicator.hpp"

namespace laconic {

/// The time at which a packet_machine must be woken that waits for a packet only.
inline constexpr double never = std::numeric_limits<double>::infinity();

/// One node's part in a protocol of packets, without a socket and without a clock: the caller gives it the time and the
/// packets, and it passes packets to out(node, bytes), whose bytes are valid during that call; those to this node, too,
/// come back by take(). Packets may be lost, come twice, late and in any order, and may have any content that a network
/// can bring. Nodes are counted from 0; times are seconds from any origin and do not decrease. It never throws for the
/// content of a packet. Satisfied iff M has
///   start(now, out)               begins; before it nothing is sent. Packets may come earlier: they are dropped;
///   take(now, from, packet, out)  takes a packet of that node's; true iff it brought this node nearer to its end: the
///                                 caller's deadline counts from the last such packet;
///   wake(now, out)                to be called at wakes_at(), when nothing came: unanswered packets are sent again;
///   wakes_at()                    seconds, or never;
///   done()                        this node has its result, and no other needs it any more;
///   waits_for()                   a node whose packets it lacks, or no_rank: for the error of a caller that gives up.
template <class M>
concept PacketMachine = requires(M& m, M const& seen, double now, int from, std::span<std::byte const> packet,
                                 detail::no_calls out) {
    m.start(now, out);
    { m.take(now, from, packet, out) } -> std::same_as<bool>;
    m.wake(now, out);
    { seen.wakes_at() } -> std::same_as<double>;
    { seen.done() } -> std::same_as<bool>;
    { seen.waits_for() } -> std::same_as<int>;
};

/// When a packet without an answer is sent again, in seconds.
struct retransmission {
    double first = 0.02;   ///< the wait before any answer was timed
    double least = 0.001;  ///< the shortest wait
    double most = 0.2;     ///< the longest wait, however often it was sent
    int farewells = 6;     ///< how often a packet that needs no answer is sent

    /// Throws argument_error for waits that are not 0 < least <= first <= most, and for no farewell.
    void check() const {
        if (!(least > 0 && least <= first && first <= most && std::isfinite(most)))
            throw argument_error({"waits of ", least, ", ", first, " and ", most, " seconds"});
        if (farewells < 1) throw argument_error({farewells, " farewells"});
    }
};

namespace detail {

/// How long to wait for an answer, from the times that others took (Jacobson, SIGCOMM 1988; RFC 6298): their mean and
/// four mean deviations, doubled for each time that the packet was sent before.
class round_trip {
  public:
    explicit round_trip(retransmission how) : how_(how) {}

    /// An answer came after so many seconds. Only for packets that were sent once: for others it is unknown which copy
    /// it answers (Karn, Partridge, SIGCOMM 1987).
    void answered(double after) {
        if (mean_ < 0) {
            mean_ = after;
            deviation_ = after / 2;
            return;
        }
        deviation_ += (std::abs(after - mean_) - deviation_) / 4;
        mean_ += (after - mean_) / 8;
    }
    /// The wait, in seconds, for a packet that was sent `before` times already.
    double wait(int before) const {
        double const once = mean_ < 0 ? how_.first : std::max(how_.least, mean_ + 4 * deviation_);
        return std::min(how_.most, std::ldexp(once, std::min(before, 30)));
    }

  private:
    retransmission how_;
    double mean_ = -1, deviation_ = 0;  // below 0: no answer was timed
};

/// Some of n nodes. Reuses its memory.
class node_set {
  public:
    /// Becomes the empty set, of n nodes or of as many as before.
    void clear(std::size_t n) {
        has_.assign(n, false);
        count_ = 0;
    }
    void clear() { clear(has_.size()); }
    /// Returns whether it was not there.
    bool add(std::size_t node) {
        if (has_[node]) return false;
        ++count_;
        return has_[node] = true;
    }
    bool has(std::size_t node) const { return has_[node]; }
    std::size_t size() const { return count_; }
    bool full() const { return count_ == has_.size(); }
    int first_missing() const { return static_cast<int>(std::find(has_.begin(), has_.end(), false) - has_.begin()); }

  private:
    std::vector<bool> has_;
    std::size_t count_ = 0;
};

/// The packets of one node that wait for an answer, numbered from 0, each to one of several peers. Reuses its memory.
class unanswered {
  public:
    explicit unanswered(retransmission how) : how_(how) {}

    /// Starts with n packets to `peers` peers, none of which waits, and with no round trips measured.
    void reset(std::size_t n, std::size_t peers) {
        all_.assign(n, {});
        peers_.assign(peers, round_trip(how_));
        wakes_ = never;
    }
    /// Packet i is sent to a peer, for the first time or again.
    void sent(std::size_t i, std::size_t peer, double now) {
        auto& p = all_[i];
        p = {p.waits, p.waits ? p.before + 1 : 0, peer, now, 0};
        p.waits = true;
        p.due = now + peers_[peer].wait(p.before);
        wakes_ = std::min(wakes_, p.due);
    }
    void answered(std::size_t i, double now) {
        auto& p = all_[i];
        if (p.before == 0) peers_[p.peer].answered(now - p.sent);
        p.waits = false;
    }
    /// The peer reports that it had packet i already: it answers the second copy, if there are two.
    void had(std::size_t i, double now) {
        auto const& p = all_[i];
        if (p.waits && p.before == 1) peers_[p.peer].answered(now - p.sent);
    }
    /// Packet i needs no answer any more.
    void forget(std::size_t i) { all_[i].waits = false; }

    bool waits(std::size_t i) const { return all_[i].waits; }
    /// The number of times that it was sent.
    int times(std::size_t i) const { return all_[i].before + 1; }

    /// Calls late(i) for each packet whose time has come, to send it again or to forget it.
    void each_late(double now, auto late) {
        wakes_ = never;
        for (std::size_t i = 0; i < all_.size(); ++i) {
            if (!all_[i].waits) continue;
            if (all_[i].due <= now)
                late(i);
            else
                wakes_ = std::min(wakes_, all_[i].due);
        }
    }
    /// A time no later than the first of these times; it may be that of a packet that was answered meanwhile.
    double wakes_at() const { return wakes_; }

  private:
    struct packet {
        bool waits = false;
        int before = 0;  // the number of times it was sent before
        std::size_t peer = 0;
        double sent = 0, due = never;
    };

    retransmission how_;
    std::vector<packet> all_;
    std::vector<round_trip> peers_;
    double wakes_ = never;
};

}  // namespace detail

}  // namespace laconic
