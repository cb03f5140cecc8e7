// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

#include "laconic/core/error.hpp"
#include "laconic/core/text.hpp"

namespace laconic {

/// The time of messages between any two ranks. Each rank has a port out and a port in, which serve one message at a
/// time each: a message of b bits keeps them busy for overhead + b x seconds_per_bit, and arrives after that time and
/// the latency. So alpha of the alpha-beta model is latency + overhead, and beta is seconds_per_bit.
struct network {
    double latency = 0;          ///< seconds
    double seconds_per_bit = 0;  ///< 1 / bandwidth
    double overhead = 0;         ///< seconds
    bool half_duplex = false;    ///< one port serves both ways, as with a radio

    double busy(std::size_t bytes) const { return overhead + 8.0 * static_cast<double>(bytes) * seconds_per_bit; }
    /// Throws argument_error unless all are finite and at least 0.
    void check() const {
        for (double const v : {latency, seconds_per_bit, overhead})
            if (!(v >= 0 && v <= 1e300))
                throw argument_error({"a network with ", v, " seconds: they are finite and at least 0"});
    }
    bool operator==(network const&) const = default;
};

namespace detail {

/// Throws argument_error unless it is finite and at least 0.
inline void check_work(double seconds) {
    if (!(seconds >= 0 && seconds <= 1e300))
        throw argument_error({"a rank works for ", seconds, " seconds: at least 0, and finite"});
}

/// The times at which a port is busy, apart from each other; it keeps the last 32.
class busy_times {
  public:
    /// The time at which the last message is through.
    double end() const { return count_ == 0 ? 0 : times_[count_ - 1].end; }

    /// Adds a message that leaves from `now` on, after all others. Returns when it has left.
    double append(double now, double busy) {
        double const begin = std::max(now, end());
        put(count_, count_, {begin, begin + busy});
        return begin + busy;
    }
    /// Adds a message whose last bit arrives at `there`, and which takes `busy`: bits that come while the port serves
    /// others wait for its next pauses. Returns when it is through. How long a port works without a pause does not
    /// depend on the order in which its messages are added.
    double serve(double there, double busy) {
        std::size_t i = count_;
        double at = there - busy, left = busy;
        while (i > 0 && times_[i - 1].end > at) --i;  // most come after all others
        std::size_t const first = i;
        double const begin = first < count_ ? std::min(at, times_[first].begin) : at;
        for (; i < count_; ++i) {
            if (double const pause = times_[i].begin - at; pause >= left)
                break;
            else if (pause > 0)
                left -= pause;
            at = std::max(at, times_[i].end);
        }
        double const done = i == first ? there : at + left;
        put(first, i, {begin, done});
        return done;
    }

  private:
    struct time {
        double begin, end;
    };

    // Replaces the times from `first` to before `last`.
    void put(std::size_t first, std::size_t last, time t) {
        if (first > 0 && times_[first - 1].end == t.begin) t.begin = times_[--first].begin;
        if (last < count_ && times_[last].begin == t.end) t.end = times_[last++].end;
        if (first == last && count_ == times_.size()) {  // the first is dropped
            if (first == 0) return;
            std::move(times_.begin() + 1, times_.begin() + static_cast<std::ptrdiff_t>(first), times_.begin());
            times_[first - 1] = t;
            return;
        }
        auto const from = times_.begin() + static_cast<std::ptrdiff_t>(last);
        auto const end = times_.begin() + static_cast<std::ptrdiff_t>(count_);
        if (first == last)
            std::move_backward(from, end, end + 1);
        else
            std::move(from, end, times_.begin() + static_cast<std::ptrdiff_t>(first) + 1);
        count_ = count_ + first + 1 - last;
        times_[first] = t;
    }

    std::array<time, 32> times_{};  // ascending, with pauses between them
    std::size_t count_ = 0;
};

/// A rank's clock and the times of its ports, in seconds.
struct port_clock {
    double now = 0;
    double out_free = 0;  // used where there are two ports
    busy_times in;

    /// Sends a message as soon as the port is free, and goes on. Returns when it has left the port.
    double leave(network const& net, double busy) {
        if (net.half_duplex) return in.append(now, busy);
        return out_free = std::max(now, out_free) + busy;
    }
    /// The same; returns when it arrives, if the port there is free.
    double send(network const& net, double busy) { return leave(net, busy) + net.latency; }
    /// Waits for a message, which passes no port where the rank has sent it to itself.
    void receive(double there, double busy, bool own = false) {
        now = std::max(now, own ? there : in.serve(there, busy));
    }
};

}  // namespace detail

}  // namespace laconic
