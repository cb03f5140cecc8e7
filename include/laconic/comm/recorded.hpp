// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "laconic/comm/communicator.hpp"
#include "laconic/core/error.hpp"
#include "laconic/core/text.hpp"

namespace laconic {

/// What a rank did: it worked for so many seconds, then handed over so many bytes, then took what another handed to it.
struct deed {
    /// In place of `to` and `from`: an all-gather, which goes around a ring.
    static constexpr int everyone = -2;

    int to = no_rank, from = no_rank;
    std::uint64_t bytes = 0;
    double seconds = 0;
    bool meets = false;      ///< in a meeting, which does not touch what is exchanged in pairs
    bool meanwhile = false;  ///< it worked while the messages of an all-gather were on their way, not before

    bool operator==(deed const&) const = default;
};

/// Writes down whom this rank talks to and in how many bytes, through any communicator, without that communicator
/// knowing: replay tells when it would have happened over any network, as often as one likes, as long as nobody does
/// anything else because of the time. A gather is written down as what the root takes from the others, a broadcast as
/// what it says to each, in the order of ranks. The log grows by 32 bytes each time. All-gathers that are in flight at
/// the same time are written down one after another, as they are finished, each with the work since the finish before:
/// a replay lets the next one begin only then, which may take longer than it would.
template <PointToPoint C>
class recorded {
  public:
    explicit recorded(C& inner) : inner_(&inner) {}

    int rank() const { return inner_->rank(); }
    int size() const { return inner_->size(); }

    /// This rank works for so long. Throws argument_error unless that is finite and at least 0.
    void compute(double seconds) {
        if (!(seconds >= 0 && seconds <= 1e300))
            throw argument_error(detail::concat({"a rank works for ", seconds, " seconds: at least 0, and finite"}));
        if (under_way_)
            worked_ += seconds;
        else
            log_.push_back({.seconds = seconds});
    }

    void all_gather(contribution mine) {
        inner_->all_gather(mine);
        note(deed::everyone, deed::everyone, mine, true);
    }
    void start_all_gather(contribution mine, int lane = 0) requires Overlapping<C> {
        under_way_.start(lane, [&] { inner_->start_all_gather(mine, lane); });
        started_[lane] = mine.bytes.size();
        if (under_way_.count() == 1) worked_ = 0;
    }
    void finish(int lane = 0) requires Overlapping<C> {
        under_way_.finish(lane, [&] { inner_->finish(lane); });
        log_.push_back({deed::everyone, deed::everyone, started_[lane], std::exchange(worked_, 0), true, true});
    }
    void gather(int root, contribution mine) {
        inner_->gather(root, mine);
        if (rank() != root) return note(root, no_rank, mine, true);
        for (int r = 0; r < size(); ++r)
            if (r != root) note(no_rank, r, {}, true);
    }
    void broadcast(int root, contribution mine) {
        inner_->broadcast(root, mine);
        if (rank() != root) return note(no_rank, root, {}, true);
        for (int r = 0; r < size(); ++r)
            if (r != root) note(r, no_rank, mine, true);
    }
    contribution from(int r) const { return inner_->from(r); }
    contribution exchange(int to, contribution mine, int from) {
        note(to, from, mine, false);
        return inner_->exchange(to, mine, from);
    }

    std::vector<deed> const& log() const { return log_; }
    /// The log, which then begins anew.
    std::vector<deed> take_log() { return std::exchange(log_, {}); }

    /// The communicator underneath: what goes through it directly is not written down.
    C& inner() const { return *inner_; }

  private:
    void note(int to, int from, contribution mine, bool meets) {
        log_.push_back({to, from, to == no_rank ? 0 : mine.bytes.size(), 0, meets});
    }

    C* inner_;
    std::vector<deed> log_;
    detail::under_way under_way_;  // all-gathers, of so many bytes
    detail::per_lane<std::uint64_t> started_;
    double worked_ = 0;  // meanwhile, since the last of them was finished
};

}  // namespace laconic
