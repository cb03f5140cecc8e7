// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "laconic/comm/communicator.hpp"

namespace laconic::detail {

/// Takes one out of `free`, where size(f) is its size in bytes: the smallest that has `need`, or else the largest. So
/// long messages reuse the memory of long ones; of equal ones it takes the last.
std::size_t take_room(std::vector<std::size_t>& free, std::size_t need, auto size) {
    auto best = free.begin();
    for (auto f = best; f != free.end(); ++f) {
        bool const has = size(*f) >= need, best_has = size(*best) >= need;
        if (has == best_has ? (has ? size(*f) <= size(*best) : size(*f) >= size(*best)) : has) best = f;
    }
    auto const taken = *best;
    free.erase(best);
    return taken;
}

/// The messages that the ranks of one process have sent to one of them and that it has not received: for each sender a
/// queue, first in first out. Allocates where a sender is new, has more in flight than ever before, or a longer
/// message. One thread at a time may use it; but what next() returned belongs to the sender, who may fill it meanwhile.
class mailbox {
  public:
    /// A payload that an engine has copied, while it is in flight. Reuses its memory.
    struct slot {
        std::vector<std::byte> bytes;
        bool is_error = false;

        void assign(payload from) {
            bytes.assign(from.bytes.begin(), from.bytes.end());
            is_error = from.is_error;
        }
        operator payload() const { return {bytes, is_error}; }
    };

    /// The buffer for the next message of `sender`, of this many bytes; it is in flight once post() is called.
    slot& next(int sender, std::size_t bytes) {
        auto& q = of(sender);
        if (q.count == q.ring.size()) {
            // A moved buffer keeps its bytes where they are, so that readers are not disturbed.
            std::rotate(q.ring.begin(), q.ring.begin() + static_cast<std::ptrdiff_t>(q.first), q.ring.end());
            q.first = 0;
            q.ring.resize(std::max<std::size_t>(2, 2 * q.count));
        }
        auto& unused = q.ring[(q.first + q.count) % q.ring.size()];
        q.longest = std::max(q.longest, bytes);
        unused.bytes.reserve(q.longest);
        return unused;
    }
    void post(int sender) { ++of(sender).count; }

    /// The number of messages from `sender` that were not received, and whether there are any.
    std::size_t waiting(int sender) const {
        auto const i = place(sender);
        return i < queues_.size() && queues_[i].sender == sender ? queues_[i].count - (sender == reading_ ? 1 : 0) : 0;
    }
    bool has(int sender) const { return waiting(sender) > 0; }
    /// The oldest message from `sender`, of which there must be one; valid until the next release() or take().
    payload take(int sender) {
        release();
        LACONIC_EXPECTS(has(sender));
        reading_ = sender;
        auto const& q = of(sender);
        return q.ring[q.first];
    }
    /// Ends the use of the message that take() returned last.
    void release() {
        if (reading_ == no_rank) return;
        auto& q = of(std::exchange(reading_, no_rank));
        q.first = (q.first + 1) % q.ring.size();
        --q.count;
    }

  private:
    struct queue {
        int sender;
        std::vector<slot> ring{};
        std::size_t first = 0, count = 0, longest = 0;  // the message taken last counts until it is released
    };
    // The place of the first queue that is not of a smaller sender.
    std::size_t place(int sender) const {
        auto const smaller = [](queue const& q, int s) { return q.sender < s; };
        return static_cast<std::size_t>(std::lower_bound(queues_.begin(), queues_.end(), sender, smaller) -
                                        queues_.begin());
    }
    queue& of(int sender) {
        auto const i = place(sender);
        if (i == queues_.size() || queues_[i].sender != sender)
            queues_.insert(queues_.begin() + static_cast<std::ptrdiff_t>(i), queue{sender});
        return queues_[i];
    }

    std::vector<queue> queues_;  // in the order of senders
    int reading_ = no_rank;      // whose message take() returned
};

}  // namespace laconic::detail
