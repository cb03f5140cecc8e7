// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "laconic/comm/communicator.hpp"

namespace laconic {

/// Counts the bytes that this rank really hands over and is handed by others, through any communicator, without that
/// communicator knowing. Its own contribution, which it also finds in from(), is not counted as received. Envelopes
/// (lengths, and the mark of a complaint) are the engine's and are not counted.
template <Communicator C>
class metered {
  public:
    explicit metered(C& inner) : inner_(&inner) {}

    int rank() const { return inner_->rank(); }
    int size() const { return inner_->size(); }
    void all_gather(contribution mine) {
        inner_->all_gather(mine);
        sent_ += mine.bytes.size();
        for (int r = 0; r < size(); ++r)
            if (r != rank()) received_ += from(r).bytes.size();
    }
    contribution from(int r) const { return inner_->from(r); }

    std::uint64_t bytes_sent() const { return sent_; }
    std::uint64_t bytes_received() const { return received_; }

    /// The communicator underneath: what goes through it directly is not counted.
    C& inner() const { return *inner_; }

  private:
    C* inner_;
    std::uint64_t sent_ = 0, received_ = 0;
};

}  // namespace laconic
