// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <thread>
#include <utility>
#include <vector>

#include "laconic/core/contract.hpp"

namespace laconic::detail {

/// Threads that wait until there is work, and end with the pool. One thread at a time calls run().
class thread_pool {
  public:
    /// So many threads beside the caller's. Throws std::system_error where the system has none left.
    explicit thread_pool(std::size_t others) : thread_pool() {  // whose destructor ends those that there are
        failures_.resize(others + 1);
        threads_.reserve(others);
        for (std::size_t t = 1; t <= others; ++t) threads_.emplace_back([this, t] { work(t); });
    }
    thread_pool(thread_pool const&) = delete;
    thread_pool& operator=(thread_pool const&) = delete;
    ~thread_pool() {
        is_over_ = true;
        begin();
        for (auto& t : threads_) t.join();
    }

    /// Calls f(t) for all t = 0 .. others at the same time, f(0) on the caller's thread. Returns when all are done;
    /// then rethrows what the one of least t has thrown. Allocates nothing.
    template <class F>
    void run(F const& f) {
        f_ = &f;
        call_ = [](void const* any, std::size_t t) { (*static_cast<F const*>(any))(t); };
        left_ = static_cast<std::uint32_t>(threads_.size());
        begin();
        call(0);
        for (std::uint32_t left; (left = left_) != 0;) left_.wait(left);
        std::exception_ptr first;
        for (auto& failure : failures_)
            if (auto const e = std::exchange(failure, nullptr); e && !first) first = e;
        if (first) std::rethrow_exception(first);
    }

  private:
    thread_pool() = default;

    void begin() {
        ++begun_;
        begun_.notify_all();
    }
    void call(std::size_t t) {
        try {
            call_(f_, t);
        } catch (...) {
            failures_[t] = std::current_exception();
        }
    }
    void work(std::size_t t) {
        for (std::uint32_t seen = 0;; ++seen) {
            begun_.wait(seen);
            if (is_over_) return;
            call(t);
            if (--left_ == 0) left_.notify_one();
        }
    }

    // Of 32 bits, which the system waits for by itself.
    std::atomic<std::uint32_t> begun_ = 0, left_ = 0;
    bool is_over_ = false;  // this and the next are written before begun_, and read after it
    void const* f_ = nullptr;
    void (*call_)(void const*, std::size_t) = nullptr;
    std::vector<std::exception_ptr> failures_;  // each thread's own
    std::vector<std::thread> threads_;
};

}  // namespace laconic::detail
