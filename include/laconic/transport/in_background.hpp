// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <cstdint>
#include <exception>
#include <mutex>
#include <span>
#include <thread>
#include <utility>

#include "laconic/backend/host.hpp"
#include "laconic/collective/collective.hpp"
#include "laconic/comm/communicator.hpp"
#include "laconic/core/error.hpp"
#include "laconic/core/view.hpp"

namespace laconic {

/// Lets any collective overlap with what its rank computes: it runs on a thread of its own between start() and
/// finish(), with a backend of its own. Meanwhile the rank leaves alone the communicator, the collective and what is
/// summed. While the collective waits, `threads` lets another rank compute in place of this one, so that one more than
/// at_once may; an engine that waits by asking again and again, as MPI's do, needs a core for it. All ranks must start
/// and finish in the same order. Allocates as the collective does.
template <class Sum, Scalar T, Communicator C, class B = host>
class in_background {
  public:
    /// Both must outlive this. Throws argument_error where the communicator serves one thread only.
    in_background(Sum& sum, C& comm, B on = {}) : sum_(&sum), comm_(&comm), on_(std::move(on)) {
        if (!detail::may_change_threads(comm))
            throw argument_error("this communicator serves one thread only: no collective runs on another meanwhile");
        thread_ = std::thread([this] { live(); });
    }
    in_background(in_background const&) = delete;
    in_background& operator=(in_background const&) = delete;
    /// Waits for what was started, as the others need it, and drops how it ended.
    ~in_background() {
        {
            std::lock_guard lock(mutex_);
            leaves_ = true;
        }
        called_.notify_all();
        thread_.join();
    }

    /// Begins sum(on, comm, v, round); v must stay until finish(), or outlive this. Throws argument_error where one has
    /// begun.
    void start(sparse_sum<T, B>& v, std::uint64_t round) requires SumsTerms<Sum, T, B, C> { begin({&v, {}, round}); }
    /// The same of numbers in full.
    void start(std::span<T> x, std::uint64_t round) requires SumsNumbers<Sum, T, B, C> { begin({nullptr, x, round}); }

    /// Waits until it is done, and throws what it threw. Throws argument_error where nothing was started.
    void finish() {
        std::unique_lock lock(mutex_);
        under_way_.finish();
        called_.wait(lock, [this] { return !running_; });
        if (auto const why = std::exchange(failure_, nullptr)) std::rethrow_exception(why);
    }

  private:
    struct task {
        sparse_sum<T, B>* terms = nullptr;
        std::span<T> numbers{};
        std::uint64_t round = 0;
    };

    void begin(task what) {
        std::lock_guard lock(mutex_);
        under_way_.start();
        task_ = what;
        running_ = true;
        called_.notify_all();
    }
    void live() {
        std::unique_lock lock(mutex_);
        for (;;) {
            called_.wait(lock, [this] { return running_ || leaves_; });
            if (!running_) return;
            lock.unlock();
            std::exception_ptr failure;
            try {
                work();
            } catch (...) {
                failure = std::current_exception();
            }
            lock.lock();
            failure_ = std::move(failure);
            running_ = false;
            called_.notify_all();
        }
    }
    void work() {
        if constexpr (SumsTerms<Sum, T, B, C>)
            if (task_.terms) return static_cast<void>((*sum_)(on_, *comm_, *task_.terms, task_.round));
        if constexpr (SumsNumbers<Sum, T, B, C>) (*sum_)(on_, *comm_, task_.numbers, task_.round);
    }

    Sum* sum_;
    C* comm_;
    B on_;
    std::mutex mutex_;
    std::condition_variable called_;
    detail::under_way under_way_;  // for the rank, until it has finished; what runs is done when it is
    bool running_ = false, leaves_ = false;
    task task_;
    std::exception_ptr failure_;
    std::thread thread_;
};

}  // namespace laconic
