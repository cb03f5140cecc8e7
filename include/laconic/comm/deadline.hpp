// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>

#include "laconic/core/error.hpp"
#include "laconic/core/text.hpp"

namespace laconic::detail {

/// How long a rank waits for the others, from an engine's settings; 0 means no limit.
class deadline {
  public:
    using clock = std::chrono::steady_clock;

    /// Throws argument_error where the time is negative.
    explicit deadline(std::chrono::milliseconds longest) : longest_(longest) {
        if (longest.count() < 0)
            throw argument_error(concat({"a deadline of ", text(), ": it is at least 0, which stands for none"}));
    }
    explicit operator bool() const { return longest_.count() > 0; }
    /// The end of a wait that begins now; without a deadline the value means nothing.
    clock::time_point from_now() const {
        std::chrono::milliseconds const century = std::chrono::hours(24 * 36525);  // the clock counts less than three
        return *this ? clock::now() + std::min(longest_, century) : clock::time_point();
    }
    bool is_over(clock::time_point until) const { return *this && clock::now() > until; }
    /// Waits until `over` holds; returns whether it did in time.
    template <class Over>
    bool wait(std::condition_variable& called, std::unique_lock<std::mutex>& lock, clock::time_point until,
              Over over) const {
        if (*this) return called.wait_until(lock, until, over);
        called.wait(lock, over);
        return true;
    }
    std::string text() const { return concat({longest_.count(), " ms"}); }

  private:
    std::chrono::milliseconds longest_;
};

}  // namespace laconic::detail
