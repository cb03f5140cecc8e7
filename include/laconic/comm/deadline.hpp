// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <mutex>
#include <string>
#include <thread>
#include <utility>

#include "laconic/core/error.hpp"
#include "laconic/core/text.hpp"

namespace laconic::detail {

/// Where a thread waits for others, which ring, all under one mutex. Waking a thread takes longer than most waits of a
/// step, so it first polls for a few microseconds, and lets others compute in between; if one of these keeps the
/// processor for much longer, as the system may allow for milliseconds, the next waits sleep at once.
class doorbell {
  public:
    void ring() {
        rung_.fetch_add(1, std::memory_order_relaxed);
        asleep_.notify_one();
    }
    /// Waits until `over` holds or, where there is a deadline, until that; returns whether it holds. Whoever makes it
    /// hold rings.
    template <class Time>
    bool wait(std::unique_lock<std::mutex>& lock, Time const* until, auto over) {
        if (over()) return true;
        if (sleeps_ > 0) {
            --sleeps_;
        } else {
            auto const before = rung_.load(std::memory_order_relaxed);
            lock.unlock();
            auto const begun = clock::now();
            auto looked = clock::duration(0);
            for (; looked < looks_for && rung_.load(std::memory_order_relaxed) == before; looked = clock::now() - begun)
                std::this_thread::yield();
            lock.lock();
            if (looked > 10 * looks_for) sleeps_ = 100;
        }
        if (until) return asleep_.wait_until(lock, *until, over);
        asleep_.wait(lock, over);
        return true;
    }

  private:
    using clock = std::chrono::steady_clock;
    static constexpr std::chrono::microseconds looks_for{5};

    std::atomic<std::uint32_t> rung_ = 0;
    int sleeps_ = 0;  // how many of the next waits only sleep; under the mutex
    std::condition_variable asleep_;
};

/// How long a rank waits for the others, from an engine's settings; 0 means no limit.
class deadline {
  public:
    using clock = std::chrono::steady_clock;

    /// Throws argument_error where the time is negative.
    explicit deadline(std::chrono::milliseconds longest) : longest_(longest) {
        if (longest.count() < 0)
            throw argument_error({"a deadline of ", text(), ": it is at least 0, which stands for none"});
    }
    explicit operator bool() const { return longest_.count() > 0; }
    /// The end of a wait that begins now; without a deadline the value means nothing.
    clock::time_point from_now() const {
        std::chrono::milliseconds const century = std::chrono::hours(24 * 36525);  // the clock counts less than three
        return *this ? clock::now() + std::min(longest_, century) : clock::time_point();
    }
    bool is_over(clock::time_point until) const { return *this && clock::now() > until; }
    /// Waits until `over` holds; returns whether it did in time.
    bool wait(doorbell& bell, std::unique_lock<std::mutex>& lock, clock::time_point until, auto over) const {
        return bell.wait(lock, *this ? &until : nullptr, over);
    }
    std::string text() const { return concat({longest_.count(), " ms"}); }

  private:
    std::chrono::milliseconds longest_;
};

/// Why ranks cannot go on together: the rank at fault and the reason. The first reason stands, and every rank throws
/// it. Not safe against concurrent use.
class abort_reason {
  public:
    explicit operator bool() const { return known_; }
    /// Sets the reason to `why`, unless there is one.
    void is(int rank, std::string why) {
        if (std::exchange(known_, true)) return;
        rank_ = rank;
        why_ = std::move(why);
    }
    /// Sets the reason: the body of this rank ended with the exception that is handled now.
    [[gnu::cold, gnu::noinline]] void threw(int rank) {
        try {
            throw;
        } catch (std::exception const& e) {
            threw(rank, std::current_exception(), e.what());
        } catch (...) {
            threw(rank, std::current_exception(), "an exception that is no std::exception");
        }
    }
    [[gnu::cold, gnu::noinline]] void threw(int rank, std::exception_ptr what, std::string const& why) {
        if (!thrown_) thrown_ = what;
        is(rank, concat({"rank ", rank, " failed: ", why}));
    }
    int rank() const { return rank_; }
    std::string const& why() const { return why_; }
    /// Throws the comm_error that every rank gets.
    [[noreturn]] void raise() const { throw comm_error(rank_, why_); }
    /// Throws the first exception that ended a body, if there was one.
    void rethrow() const {
        if (thrown_) std::rethrow_exception(thrown_);
    }

    static std::string left(int rank) {
        return concat({"rank ", rank, " has ended, while others wait for it: all ranks must make the same calls"});
    }

  private:
    bool known_ = false;
    int rank_ = -1;
    std::string why_;
    std::exception_ptr thrown_;
};

}  // namespace laconic::detail
