// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "laconic/comm/communicator.hpp"
#include "laconic/comm/network.hpp"
#include "laconic/core/kept.hpp"

namespace laconic {

/// One entry of a rank's log: it computes for so many seconds, then sends so many bytes, then receives from another
/// rank.
struct log_entry {
    /// In place of `to` and `from`: an all-gather, which goes around a ring.
    static constexpr int everyone = -2;

    int to = no_rank, from = no_rank;
    std::uint64_t bytes = 0;
    double seconds = 0;
    bool collective = false;  ///< part of a collective call, which does not mix with exchanges
    bool meanwhile = false;   ///< it computes while the messages of an all-gather are in flight, not before

    bool operator==(log_entry const&) const = default;
};

/// Records with whom this rank communicates and in how many bytes, through any communicator: replay computes when it
/// would have happened over any network, as long as no rank acts on the time. A gather is recorded as the root's
/// receives from the others, a broadcast as its sends to each, in the order of ranks. The log grows by 32 bytes for
/// each entry. All-gathers in flight at the same time are recorded one after another, as they are finished, each with
/// the computation since the finish before: a replay may take longer than they would.
template <PointToPoint C>
class recorded {
  public:
    explicit recorded(C& inner) : inner_(inner) {}

    int rank() const { return inner_->rank(); }
    int size() const { return inner_->size(); }

    /// Records that this rank computes for so long. Throws argument_error unless that is finite and at least 0.
    void compute(double seconds) {
        detail::check_work(seconds);
        if (under_way_)
            worked_ += seconds;
        else
            log_.push_back({.seconds = seconds});
    }

    void all_gather(payload mine) {
        inner_->all_gather(mine);
        note(log_entry::everyone, log_entry::everyone, mine, true);
    }
    void start_all_gather(payload mine, int lane = 0) requires Overlapping<C> {
        under_way_.start(lane, [&] { inner_->start_all_gather(mine, lane); });
        started_[lane] = mine.bytes.size();
        if (under_way_.count() == 1) worked_ = 0;
    }
    void finish(int lane = 0) requires Overlapping<C> {
        under_way_.finish(lane, [&] { inner_->finish(lane); });
        log_.push_back(
            {log_entry::everyone, log_entry::everyone, started_[lane], std::exchange(worked_, 0), true, true});
    }
    void gather(int root, payload mine) {
        inner_->gather(root, mine);
        if (rank() != root) return note(root, no_rank, mine, true);
        for (int r = 0; r < size(); ++r)
            if (r != root) note(no_rank, r, {}, true);
    }
    void broadcast(int root, payload mine) {
        inner_->broadcast(root, mine);
        if (rank() != root) return note(no_rank, root, {}, true);
        for (int r = 0; r < size(); ++r)
            if (r != root) note(r, no_rank, mine, true);
    }
    payload from(int r) const { return inner_->from(r); }
    payload exchange(int to, payload mine, int from) {
        note(to, from, mine, false);
        return inner_->exchange(to, mine, from);
    }

    std::vector<log_entry> const& log() const { return log_; }
    /// Returns the log and starts a new one.
    std::vector<log_entry> take_log() { return std::exchange(log_, {}); }

    /// The communicator underneath: calls to it directly are not recorded.
    C& inner() const { return *inner_; }

  private:
    void note(int to, int from, payload mine, bool collective) {
        log_.push_back({to, from, to == no_rank ? 0 : mine.bytes.size(), 0, collective});
    }

    detail::kept<C> inner_;
    std::vector<log_entry> log_;
    detail::under_way under_way_;  // the all-gathers in flight
    detail::per_lane<std::uint64_t> started_;
    double worked_ = 0;  // while they are in flight, since the last finish
};

}  // namespace laconic
