// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <thread>
#include <utility>

#include "laconic/transport/summed.hpp"

namespace laconic {

/// A transport by a collective that works while its rank computes: from send() to receive() it runs on a thread of its
/// own, with a backend of its own, and the rank leaves the communicator alone. While it waits for other ranks,
/// `threads` lets another rank compute in place of this one, so that one more than at_once may; an engine that polls,
/// as MPI's do, needs a core for it. Bits and bytes are the collective's. In a reducer a layer's sum is under way from
/// its start() to the next start() or finish(), which waits for it, as does statistics(). So from the first start() to
/// finish() a rank leaves alone the reducer's communicator and all that are split from the same. Two steps compute
/// nothing meanwhile: the first of several layers, which are all sent by finish(); and, in a hierarchy, each, where
/// ranks communicate with their node between the layers.
template <class X>
struct in_background {
    X over{};

    bool operator==(in_background const&) const = default;
    friend std::string to_string(in_background const& b) {
        return detail::concat({"in_background(", to_string(b.over), ")"});
    }
};
template <class X>
in_background(X) -> in_background<X>;

namespace detail {

/// A thread beside its owner's, which runs one function at a time.
class companion {
  public:
    companion() : thread_([this] { live(); }) {}
    companion(companion const&) = delete;
    companion& operator=(companion const&) = delete;
    /// Waits for what was started, as other ranks may need it, and drops how it ended.
    ~companion() {
        {
            std::lock_guard lock(mutex_);
            leaves_ = true;
        }
        called_.notify_all();
        thread_.join();
    }
    /// Throws argument_error where something is under way.
    void require_free() const {
        if (busy_) throw argument_error("a round is under way: receive() comes before the next send()");
    }
    /// Begins run(of), where nothing is under way.
    void start(void (*run)(void*), void* of) {
        require_free();
        busy_ = true;
        std::lock_guard lock(mutex_);
        run_ = run;
        of_ = of;
        called_.notify_all();
    }
    /// Waits until what is under way, if anything, is done, and keeps how it ended for finish().
    void wait() {
        std::unique_lock lock(mutex_);
        called_.wait(lock, [this] { return run_ == nullptr; });
    }
    /// The same, and drops how it ended.
    void drop() {
        wait();
        failure_ = nullptr;
        busy_ = false;
    }
    /// Waits until it is done, and throws what it threw. Throws argument_error where nothing was started.
    void finish() {
        if (!busy_) throw argument_error("receive() comes after a send()");
        busy_ = false;
        wait();
        if (auto const why = std::exchange(failure_, nullptr)) std::rethrow_exception(why);
    }

  private:
    void live() {
        std::unique_lock lock(mutex_);
        for (;;) {
            called_.wait(lock, [this] { return run_ != nullptr || leaves_; });
            if (run_ == nullptr) return;
            lock.unlock();
            std::exception_ptr failure;
            try {
                run_(of_);
            } catch (...) {
                failure = std::current_exception();
            }
            lock.lock();
            failure_ = std::move(failure);
            run_ = nullptr;
            called_.notify_all();
        }
    }

    std::mutex mutex_;
    std::condition_variable called_;
    bool busy_ = false;  // for the owner, until it has finished
    bool leaves_ = false;
    void (*run_)(void*) = nullptr;
    void* of_ = nullptr;
    std::exception_ptr failure_;
    std::thread thread_;
};

/// The transport in_background{X}. Memory: d numbers more than summed's, and a thread. Reuses its memory.
template <class X, class M, Scalar T, class B = host>
class summed_in_background : public plain_transport {
  public:
    summed_in_background(in_background<X> const& how, std::size_t d, position_code positions)
        : work_(std::make_unique<work>(how.over, d, positions)) {}

    void require_beside(auto const& feedback, std::string const& described) const {
        work_->means.require_beside(feedback, described);
    }
    static constexpr bool uses_collective() { return true; }
    /// Throws argument_error where the communicator serves one thread only.
    void start(Communicator auto& comm) {
        if (!may_change_threads(comm))
            throw argument_error(
                "this communicator serves one thread only: no collective runs on another meanwhile. MPI serves several "
                "where it is started with MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &given); where the "
                "program makes no calls of MPI itself meanwhile, MPI_THREAD_SERIALIZED, with which mpi::run starts "
                "it, is enough");
    }
    /// Does not wait. `comm` must stay where it is until receive(). Throws argument_error before that.
    template <Communicator C>
    void send(B& on, C& comm, round_context const& now, M const& mine, failure const& own, int = 0) {
        auto& w = *work_;
        w.beside.require_free();
        w.means.template load<C>(on, mine, own, std::span<T>(w.numbers));
        w.round = now.round;
        w.own = &own;
        w.comm = &comm;
        w.beside.start(
            [](void* of) {
                auto& its = *static_cast<work*>(of);
                its.means.add_up(its.on, *static_cast<C*>(its.comm), its.round, *its.own, std::span<T>(its.numbers));
            },
            &w);
    }
    /// As summed::receive().
    template <Communicator C, class Blank, class F>
    void receive(B& on, C&, round_context const&, M const&, failure const&, Blank const&, F const&, std::span<T> mean,
                 int = 0) {
        auto& w = *work_;
        w.beside.finish();
        w.means.template take<C>(on, std::span<T const>(w.numbers), mean);
    }
    void give_back(B& on, auto& feedback) const { work_->means.give_back(on, feedback); }
    void wait() const { work_->beside.wait(); }
    /// Throws argument_error, too, while a round is under way.
    void require_consistent() const {
        work_->beside.require_free();
        work_->means.require_consistent();
    }
    /// Ends a round that is under way without one, as state() does.
    void recover() {
        work_->beside.drop();
        work_->means.recover();
    }
    void state(auto& archive) {
        work_->beside.drop();
        work_->means.state(archive);
    }

  private:
    // What the thread works on, which stays where it is when this is moved.
    struct work {
        summed<X, M, T, B> means;
        typename B::template array<T> numbers;
        B on{};
        void* comm = nullptr;  // of the round that is under way
        std::uint64_t round = 0;
        failure const* own = nullptr;
        companion beside{};  // ends before the rest

        work(X const& x, std::size_t d, position_code positions) : means(x, d, positions), numbers(d) {}
    };
    std::unique_ptr<work> work_;
};

template <class X, class M, class T, class B>
struct transport_of<in_background<X>, M, T, B> {
    using type = summed_in_background<X, M, T, B>;
};

}  // namespace detail

}  // namespace laconic
