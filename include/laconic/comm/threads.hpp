// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "laconic/comm/deadline.hpp"
#include "laconic/comm/local_member.hpp"
#include "laconic/comm/turns.hpp"

namespace laconic {

/// The default engine: the ranks are threads of one process, and messages between them are copied as bytes.
/// threads::run(n, body) calls body(comm) once per rank and returns when all have returned; where one throws, the
/// others' waits end with a comm_error that names it, every thread is joined, and run() throws the first exception
/// again. If all ranks wait for each other, each gets a comm_error that names who waits for whom. After one comm_error
/// no rank waits any more: all get the same one, and each later call of a rank that caught it throws it again and sends
/// nothing, in all communicators that were made by splits, too.
class threads {
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
    template <class Body>
    static void run(int ranks, Body body, settings how) {
        if (ranks < 1) throw argument_error(detail::concat({ranks, " ranks: at least one is needed"}));
        threads all(ranks, how);
        std::vector<std::thread> started;
        try {
            for (int r = 0; r < ranks; ++r) started.emplace_back([&all, &body, r] { all.live(r, body); });
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
    template <class Body>
    static void run(int ranks, Body body) {
        run(ranks, std::move(body), settings{});
    }

  private:
    friend detail::local_member<threads>;
    friend detail::local_part<threads>;
    static constexpr bool may_change_threads = true;
    static constexpr int everyone = detail::local_wait::everyone;
    using group = detail::local_group;
    using time_point = detail::deadline::clock::time_point;
    struct rank_state : detail::turns::rank_state, detail::local_wait {
        bool deadlocked = false;  // whether all others wait, too
    };

    threads(threads const&) = delete;
    threads& operator=(threads const&) = delete;
    ~threads() { link_->cut(); }
    [[gnu::cold]] threads(int ranks, settings how)
        : size_(ranks),
          deadline_(how.deadline),
          states_(static_cast<std::size_t>(ranks)),
          turns_(states_.size(), how.at_once > 0 ? how.at_once : ranks) {
        everybody_ = detail::group_of_all(states_.size());
        for (auto& s : states_) resume(s);
    }

    // The ranks from `first` to before `last` come no more, nor take a turn to compute.
    [[gnu::cold]] void leave(std::size_t first, std::size_t last) {
        std::lock_guard lock(mutex_);
        left_ += static_cast<int>(last - first);
        for (; first < last; turns_.stops(states_[first++])) states_[first].left = true;
        for (auto& other : states_) other.called.notify_one();  // ranks that wait for them wait in vain
        end_deadlock();
    }

    template <class Body>
    void live(int rank, Body& body) {
        rank_state& mine = at(rank);
        try {
            {
                std::unique_lock lock(mutex_);
                await_turn(lock, mine, deadline_.from_now());
            }
            member me(*this, everybody_, rank);
            body(me);
        } catch (...) {
            std::lock_guard lock(mutex_);
            failure_.threw(rank);
        }
        leave(static_cast<std::size_t>(rank), static_cast<std::size_t>(rank) + 1);
    }

    std::shared_ptr<detail::engine_link<threads>> const& link() const { return link_; }
    [[gnu::cold, gnu::noinline]] void drop(group& in, int rank) {
        std::lock_guard lock(mutex_);
        in.drop(rank);
        for (auto& s : states_)
            if (s.in == &in) s.called.notify_one();
    }

    // A rank that gave up writes no more. The last to come lets all go on that wait; where it is about to wait, too, it
    // goes on as one of them.
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
    void finish(group& in, int rank, int lane, std::uint64_t turn, std::uint64_t calls) {
        std::unique_lock lock(mutex_);
        wait(lock, in, rank, everyone, calls);
        // The other buffer is not read any more: it gets the same capacity, so that later turns allocate nothing.
        auto& sent = in.at(rank).sent[lane];
        sent[1 - turn % 2].bytes.reserve(sent[turn % 2].bytes.capacity());
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
                timed_out(slowest(awaited_rank(my, whom)), whom == everyone ? " did not come" : " sent nothing");
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
    // The number of a rank that will never bring that, or no_rank; the number of one that has not.
    int gone(rank_state const& s, int whom) const {
        auto const left = [this, &s](int r) { return at(s.in->number(r)).left || s.in->at(r).dropped; };
        if (left_ + s.in->dropped() == 0) return no_rank;
        if (whom == everyone) return s.in->missing(s.awaited, left);
        return left(whom) ? s.in->number(whom) : no_rank;
    }
    int awaited_rank(rank_state const& s, int whom) const {
        return whom == everyone ? s.in->missing(s.awaited, [](int) { return true; }) : s.in->number(whom);
    }
    // Rank r, or, where it waits itself, the last of the ranks that wait for each other.
    int slowest(int r) const {
        for (int n = 0; n < size_ && at(r).waits_for != no_rank; ++n) r = awaited_rank(at(r), at(r).waits_for);
        return at(r).ready ? who_computes() : r;
    }
    int who_computes() const { return static_cast<int>(detail::turns::longest(states_)); }
    [[gnu::cold, gnu::noinline]] void timed_out(int culprit, char const* how) {
        failure_.is(culprit, detail::concat({"rank ", culprit, how, " within ", deadline_.text()}));
    }
    // Throws the reason on this rank, and wakes all that wait, which then throw it, too.
    [[noreturn, gnu::cold, gnu::noinline]] void give_up(rank_state& my) {
        my.notified = true;
        for (auto& s : states_) s.called.notify_one();
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
        if (failure_ || waiting_ == 0 || waiting_ + left_ < size_) return;
        rank_state* lowest = nullptr;
        for (auto& s : states_) {
            if (s.waits_for == no_rank) continue;
            if (gone(s, s.waits_for) >= 0) return;
            if (!lowest) lowest = &s;
        }
        lowest->deadlocked = true;
        lowest->called.notify_one();
    }
    [[gnu::cold, gnu::noinline]] std::string who_waits(rank_state const& s) const {
        return detail::describe_waits(static_cast<int>(&s - states_.data()), [&](int r) {
            return at(r).waits_for == no_rank ? no_rank : awaited_rank(at(r), at(r).waits_for);
        });
    }

    rank_state& at(int rank) { return states_[static_cast<std::size_t>(rank)]; }
    rank_state const& at(int rank) const { return states_[static_cast<std::size_t>(rank)]; }

    int const size_;
    detail::deadline const deadline_;
    std::mutex mutex_;
    std::vector<rank_state> states_;
    detail::turns turns_;
    std::shared_ptr<group> everybody_;
    std::shared_ptr<detail::engine_link<threads>> link_ = std::make_shared<detail::engine_link<threads>>(*this);
    int waiting_ = 0, left_ = 0;
    detail::abort_reason failure_;
};

}  // namespace laconic
