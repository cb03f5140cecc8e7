// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "laconic/core/contract.hpp"

namespace laconic::detail {

/// Which ranks of a process compute: at most so many at a time. The others wait to be called, in the order in which
/// they could go on. The owner's mutex is held in every call and belongs to every rank_state's condition variable.
class turns {
  public:
    struct rank_state {
        std::condition_variable called;
        bool may_compute = false;  // it computes, or is about to
        bool ready = false;        // it waits to be called to compute
        bool left = false;         // its body has returned: it is not called any more
        std::uint64_t turn = 0;    // the number of its last turn, counted over all ranks
    };

    turns(std::size_t ranks, int at_once) : at_once_(at_once), ready_(ranks) {}

    /// This rank computes as soon as it may.
    void resume(rank_state& s) {
        if (s.ready || s.may_compute) return;
        s.ready = true;
        ready_[(first_ + count_++) % ready_.size()] = &s;
        call_next();
    }
    /// This rank stops computing until resume() is called for it.
    void stops(rank_state& s) {
        if (s.may_compute) --computing_;
        s.may_compute = false;
        call_next();
    }
    /// The rank_state that has computed for the longest time without a pause; their number where none computes.
    template <class States>
    static std::size_t longest(States const& states) {
        std::size_t found = states.size();
        for (std::size_t r = 0; r < states.size(); ++r)
            if (states[r].may_compute && (found == states.size() || states[r].turn < states[found].turn)) found = r;
        return found;
    }

  private:
    void call_next() {
        for (; computing_ < at_once_ && count_ > 0; --count_) {
            rank_state& s = *ready_[first_];
            first_ = (first_ + 1) % ready_.size();
            s.ready = false;
            if (s.left) continue;
            s.may_compute = true;
            s.turn = ++turns_;
            ++computing_;
            s.called.notify_one();
        }
    }

    int at_once_, computing_ = 0;
    std::vector<rank_state*> ready_;  // a ring
    std::size_t first_ = 0, count_ = 0;
    std::uint64_t turns_ = 0;
};

}  // namespace laconic::detail
