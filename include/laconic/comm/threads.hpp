// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#include "laconic/comm/local_member.hpp"

namespace laconic::detail {

/// Which ranks of a process compute: at most so many at a time. The others wait to be called, in the order in which
/// they could go on. The owner's mutex is held in every call and belongs to every rank_state's doorbell.
class turns {
  public:
    struct rank_state {
        doorbell called;
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
    static std::size_t longest(auto const& states) {
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
            s.called.ring();
        }
    }

    int at_once_, computing_ = 0;
    std::vector<rank_state*> ready_;  // a ring
    std::size_t first_ = 0, count_ = 0;
    std::uint64_t turns_ = 0;
};

struct thread_state : turns::rank_state, local_wait {
    bool deadlocked = false;  // whether all others wait, too
};

}  // namespace laconic::detail

namespace laconic {

/// The default engine: the ranks are threads of one process, and messages between them are copied as bytes.
/// threads::run(n, body) calls body(comm) once per rank and returns when all have returned; where one throws, the
/// others' waits end with a comm_error that names it, and run() throws the first exception again. If all ranks wait for
/// each other, the comm_error names who waits for whom. After one comm_error all ranks get the same one, in all
/// communicators that were made by splits, too: no call waits or sends any more.
class threads : detail::local_engine<threads, detail::thread_state> {
  public:
    struct settings {
        int at_once = 0;  ///< the most ranks that compute at the same time; 0: all. The result does not depend on it.
        /// The longest wait for the others, from a call until this rank has what it needs and may compute again, or
        /// until its body begins; 0: no limit. After it all ranks get a comm_error that names the rank which was
        /// awaited or kept its turn to compute. That rank is not interrupted: run returns when its body has, too.
        std::chrono::milliseconds deadline{0};
    };

    /// One rank's communicator. Use it, and those that it is split into, from one thread at a time.
    using member = detail::local_member<threads>;

    /// Throws argument_error for fewer than one rank and for a negative deadline, and the exception of the first body
    /// that threw: a comm_error where a rank left early or came too late.
    static void run(int ranks, auto body, settings how) { run_all(ranks, how, &body, give_to<decltype(body)>); }
    static void run(int ranks, auto body) { run_all(ranks, {}, &body, give_to<decltype(body)>); }

  private:
    friend detail::local_member<threads>;
    static constexpr bool may_change_threads = true;
    using rank_state = detail::thread_state;
    using time_point = detail::deadline::clock::time_point;

    // Calls a body, whose type is known here alone, so that the rest is compiled once.
    template <class Body>
    static void give_to(void* body, member& me) {
        (*static_cast<Body*>(body))(me);
    }
    static void run_all(int ranks, settings how, void* body, void (*give)(void*, member&)) {
        threads all(ranks, how);
        std::vector<std::thread> started;
        try {
            for (int r = 0; r < ranks; ++r) started.emplace_back([&all, body, give, r] { all.live(r, body, give); });
        } catch (...) {  // the system has no thread left
            std::unique_lock lock(all.mutex_);
            all.failure_.threw(static_cast<int>(started.size()), std::current_exception(),
                               "its thread could not start");
            lock.unlock();
            all.leave(started.size(), all.states_.size());
        }
        for (auto& t : started) t.join();
        all.failure_.rethrow();
    }
    ~threads() { link_->cut(); }
    [[gnu::cold]] threads(int ranks, settings how)
        : local_engine(*this, ranks, how.deadline), turns_(states_.size(), how.at_once > 0 ? how.at_once : ranks) {
        for (auto& s : states_) resume(s);
    }

    // The ranks from `first` to before `last` come no more, nor take a turn to compute.
    [[gnu::cold]] void leave(std::size_t first, std::size_t last) {
        std::lock_guard lock(mutex_);
        left_ += static_cast<int>(last - first);
        for (; first < last; turns_.stops(states_[first++])) states_[first].left = true;
        for (auto& other : states_) other.called.ring();  // ranks that wait for them wait in vain
        end_deadlock();
    }

    void live(int rank, void* body, void (*give)(void*, member&)) {
        rank_state& mine = at(rank);
        try {
            {
                std::unique_lock lock(mutex_);
                await_turn(lock, mine, deadline_.from_now());
            }
            member me(*this, everybody_, rank);
            give(body, me);
        } catch (...) {
            std::lock_guard lock(mutex_);
            failure_.threw(rank);
        }
        leave(static_cast<std::size_t>(rank), static_cast<std::size_t>(rank) + 1);
    }

    [[gnu::cold, gnu::noinline]] void drop(group& in, int rank) {
        std::lock_guard lock(mutex_);
        in.drop(rank);
        for (auto& s : states_)
            if (s.in == &in) s.called.ring();
    }

    // The last to come lets all go on that wait, itself included where it is about to wait.
    void start(group& in, int rank, int lane, std::uint64_t turn, payload mine, bool about_to_wait) {
        rank_state& my = at(in.number(rank));
        if (my.notified) failure_.raise();
        in.at(rank).sent[lane][turn % 2].assign(mine);
        std::lock_guard lock(mutex_);
        if (failure_) give_up(my);
        if (!in.arrive(rank, lane)) return;
        if (about_to_wait) turns_.stops(my);
        for (int const r : in.numbers()) {
            rank_state& s = at(r);
            bool const waited = s.waits_for == everyone && s.has(everyone);
            if (waited || (about_to_wait && &s == &my)) resume(s);
        }
    }
    void finish(group& in, int rank, std::uint64_t calls) {
        std::unique_lock lock(mutex_);
        wait(lock, in, rank, everyone, calls);
    }
    payload exchange(group& in, int rank, int to, payload mine, int from) {
        rank_state& my = at(in.number(rank));
        auto& handed = in.at(rank).handed;
        if (my.notified) failure_.raise();  // sent again, it would reach the receiver as the next message
        std::unique_lock lock(mutex_);
        if (to != no_rank) {
            auto& theirs = in.at(to).handed;
            auto& slot = theirs.next(rank, mine.bytes.size());
            lock.unlock();
            slot.assign(mine);
            lock.lock();
            theirs.post(rank);
            if (rank_state& other = at(in.number(to)); other.waits_for == rank && other.in == &in) resume(other);
        }
        handed.release();  // not earlier: `mine` may lie there
        if (from == no_rank) return {};
        if (!handed.has(from)) wait(lock, in, rank, from, 0);
        return handed.take(from);
    }

    // Lets others compute until what this rank needs of `whom` is there and it is its turn again.
    void wait(std::unique_lock<std::mutex>& lock, group& in, int rank, int whom, std::uint64_t calls) {
        rank_state& my = at(in.number(rank));
        auto const until = deadline_.from_now();
        my.in = &in;
        my.as = rank;
        my.awaited = calls;
        if (!my.has(whom)) {
            my.waits_for = whom;
            ++waiting_;
            turns_.stops(my);
            end_deadlock();
            deadline_.wait(my.called, lock, until,
                           [&] { return my.has(whom) || failure_ || gone(my, whom) >= 0 || my.deadlocked; });
        }
        if (!my.has(whom)) {
            if (int const left = gone(my, whom); left >= 0)
                failure_.is(left, failure_.left(left));
            else if (my.deadlocked)
                failure_.is(awaited_rank(my, whom), who_waits(my));
            else
                timed_out(slowest(awaited_rank(my, whom)), what_lacks(whom));
            stop_waiting(my);
            give_up(my);
        }
        await_turn(lock, my, until);
    }
    void await_turn(std::unique_lock<std::mutex>& lock, rank_state& my, time_point until) {
        if (deadline_.wait(my.called, lock, until, [&] { return my.may_compute; })) return;
        timed_out(who_computes(), " let no other rank compute");
        give_up(my);
    }
    int slowest(int awaited) const {
        int const r = last_awaited(awaited);
        return at(r).ready ? who_computes() : r;
    }
    int who_computes() const { return static_cast<int>(detail::turns::longest(states_)); }
    // Throws the reason on this rank, and wakes all that wait, which then throw it, too.
    [[noreturn, gnu::cold, gnu::noinline]] void give_up(rank_state& my) {
        my.notified = true;
        for (auto& s : states_) s.called.ring();
        failure_.raise();
    }

    // After a collective call ranks go on in their order. All calls are under the mutex.
    void resume(rank_state& s) {
        stop_waiting(s);
        turns_.resume(s);
    }
    void stop_waiting(rank_state& s) {
        if (s.waits_for != no_rank) --waiting_;
        s.waits_for = no_rank;
        s.deadlocked = false;
    }

    // Where no rank can go on, and none is about to report why, the lowest rank that waits reports it.
    [[gnu::cold, gnu::noinline]] void end_deadlock() {
        if (failure_ || waiting_ == 0 || waiting_ + left_ < size()) return;
        rank_state* lowest = nullptr;
        for (auto& s : states_) {
            if (s.waits_for == no_rank) continue;
            if (gone(s, s.waits_for) >= 0) return;
            if (!lowest) lowest = &s;
        }
        lowest->deadlocked = true;
        lowest->called.ring();
    }
    std::mutex mutex_;
    detail::turns turns_;
    int waiting_ = 0;
};

}  // namespace laconic
