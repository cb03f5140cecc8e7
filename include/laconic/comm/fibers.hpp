// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ucontext.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <list>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "laconic/comm/deadline.hpp"
#include "laconic/comm/local_member.hpp"
#include "laconic/comm/paused_stack.hpp"

namespace laconic {

/// The ranks as fibers of the calling thread, which take turns, each until it must wait for others, rank 0 first. The
/// results are the same as with `threads`, and where a round is short it takes a fraction of the time, as the system
/// need not wake any rank. fibers::run(n, body) calls body(comm) once per rank and returns when all have returned;
/// where one throws, the others' calls end with a comm_error that names it, and run() throws the first exception again.
/// If all ranks wait for each other, each gets a comm_error that names who waits for whom. After one comm_error no rank
/// waits any more: all get the same one, and each later call of a rank that caught it throws it again and sends
/// nothing, in all communicators that were made by splits, too. A rank that computes for ever keeps all others from
/// going on. A rank must not communicate while it handles an exception. For POSIX systems with <ucontext.h>;
/// all.hpp leaves it out.
class fibers {
  public:
    struct settings {
        std::size_t stack = std::size_t{1} << 20;  ///< bytes for each rank; to write beyond them ends the program
        /// The longest wait for the others, from a call until this rank goes on, or until its body begins; 0: no limit.
        /// After it all ranks get a comm_error that names the rank which computed when it passed, as soon as that one
        /// waits or its body returns: nothing interrupts a rank.
        std::chrono::milliseconds deadline{0};
    };

    /// One rank's communicator.
    using member = detail::local_member<fibers>;

    /// Throws argument_error for fewer than one rank and for a negative deadline, comm_error where a rank left early or
    /// there is no memory for its stack, and whatever the body throws.
    template <class Body>
    static void run(int ranks, Body body, settings how) {
        if (ranks < 1) throw argument_error(detail::concat({ranks, " ranks: at least one is needed"}));
        fibers all(ranks, how);
        all.live_ = [](fibers& self, int rank, void* what) {
            member me(self, self.everybody_, rank);
            (*static_cast<Body*>(what))(me);
        };
        all.body_ = &body;
        all.take_turns();
        all.failure_.rethrow();
    }
    template <class Body>
    static void run(int ranks, Body body) {
        run(ranks, std::move(body), settings{});
    }

  private:
    friend detail::local_member<fibers>;
    friend detail::local_part<fibers>;
    static constexpr bool may_change_threads = false;
    static constexpr int everyone = detail::local_wait::everyone;
    using group = detail::local_group;
    struct rank_state : detail::local_wait {
        detail::mapped_stack run;
        bool left = false;                          // its body has returned
        detail::deadline::clock::time_point until;  // the end of its wait, where there is a deadline
        std::list<rank_state*>::iterator place;     // in waiting_ or computing_
    };

    fibers(fibers const&) = delete;
    fibers& operator=(fibers const&) = delete;
    ~fibers() { link_->cut(); }
    fibers(int ranks, settings how) : deadline_(how.deadline), states_(static_cast<std::size_t>(ranks)) {
        everybody_ = detail::group_of_all(states_.size());
        for (auto& s : states_) {
            s.place = waiting_.insert(waiting_.end(), &s);
            s.until = deadline_.from_now();
        }
        for (int r = 0; r < ranks; ++r) {
            auto& run = at(r).run;
            if (!run.map(how.stack)) throw comm_error(r, detail::concat({"rank ", r, " could not be given a stack"}));
            run.context.uc_link = &scheduler_.context;
            // makecontext passes ints only: the halves of a pointer, and the rank.
            auto const self = reinterpret_cast<std::uintptr_t>(this);
            makecontext(&run.context, reinterpret_cast<void (*)()>(&fibers::enter), 3,
                        static_cast<unsigned>(self >> 16 >> 16), static_cast<unsigned>(self), r);
        }
    }

    static void enter(unsigned high, unsigned low, int rank) {
        auto& self = *reinterpret_cast<fibers*>(static_cast<std::uintptr_t>(high) << 16 << 16 | low);
        detail::paused_stack::begin(self.scheduler_);
        try {
            if (self.timed_out_) self.failure_.raise();
            self.live_(self, rank, self.body_);
        } catch (...) {
            self.failure_.threw(rank);
        }
        self.at(rank).left = true;
        ++self.left_;
        detail::paused_stack::end(self.scheduler_);
    }

    // Lets every rank run until it must wait, again and again, until all have left.
    void take_turns() {
        while (left_ < size()) {
            bool moved = false;
            for (auto& s : states_) {
                if (s.left || !can_go_on(s)) continue;
                resume(s);
                moved = true;
            }
            if (moved) continue;
            // The lowest rank gets the error that it waits in vain.
            for (auto& s : states_) {
                if (s.left) continue;
                deadlocked_ = &s;
                resume(s);
                break;
            }
        }
    }
    // Lets s run until it must wait; meanwhile the wait of another may have become too long. The longest wait stands
    // first.
    void resume(rank_state& s) {
        computing_.splice(computing_.end(), waiting_, s.place);
        scheduler_.resume(s.run);
        if (!deadline_ || waiting_.empty() || !deadline_.is_over(waiting_.front()->until)) return;
        auto const& first = *waiting_.front();
        bool const ready = first.waits_for == no_rank || there(first);
        int const culprit = ready ? rank_of(s) : slowest(awaited_rank(rank_of(first)), s);
        timed_out_ = true;
        failure_.is(culprit, detail::concat({"rank ", culprit,
                                             (ready                         ? " let no other rank compute"
                                              : first.waits_for == everyone ? " did not come"
                                                                            : " sent nothing"),
                                             " within ", deadline_.text()}));
    }
    // Rank r, or, where it waits itself, the last of the ranks that wait for each other; where that one could go on,
    // the one that ran.
    int slowest(int r, rank_state const& ran) const {
        for (int n = 0; n < size() && at(r).waits_for != no_rank && !there(at(r)); ++n) r = awaited_rank(r);
        return can_go_on(at(r)) ? rank_of(ran) : r;
    }
    void pause(rank_state& s) {
        LACONIC_EXPECTS(!std::current_exception());  // all ranks share the place where it is kept
        s.until = deadline_.from_now();
        waiting_.splice(waiting_.end(), computing_, s.place);
        s.run.resume(scheduler_);
    }

    std::shared_ptr<detail::engine_link<fibers>> const& link() const { return link_; }
    static void drop(group& in, int rank) { in.drop(rank); }  // take_turns() looks

    // Whether what s waits for is there, or will never be.
    bool can_go_on(rank_state const& s) const {
        return s.waits_for == no_rank || there(s) || failure_ || (left_ + s.in->dropped() > 0 && hopeless(s));
    }
    static bool there(rank_state const& s) { return s.has(s.waits_for); }
    bool hopeless(rank_state const& s) const {
        auto const left = [this, &s](int r) { return has_left(*s.in, r); };
        if (s.waits_for != everyone) return left(s.waits_for);
        return s.in->least_of_left(left_ + s.in->dropped(), left) < s.awaited;
    }

    void wait(group& in, int rank, int whom, std::uint64_t calls) {
        rank_state& my = at(in.number(rank));
        my.in = &in;
        my.as = rank;
        my.waits_for = whom;
        my.awaited = calls;
        if (!there(my)) pause(my);
        if (there(my) && !timed_out_) {
            my.waits_for = no_rank;
            return;
        }
        int const missing = awaited_rank(rank_of(my));
        failure_.is(missing, deadlocked_ == &my ? who_waits(rank_of(my)) : failure_.left(missing));
        my.waits_for = no_rank;
        deadlocked_ = nullptr;
        my.notified = true;
        failure_.raise();
    }
    // The rank that this one waits for; in a collective call the first that has not come and, if there is one, has
    // left.
    int awaited_rank(int rank) const {
        rank_state const& s = at(rank);
        if (s.waits_for != everyone) return s.in->number(s.waits_for);
        int const left = s.in->missing(s.awaited, [this, &s](int r) { return has_left(*s.in, r); });
        return left != no_rank ? left : s.in->missing(s.awaited, [](int) { return true; });
    }
    std::string who_waits(int rank) const {
        return detail::describe_waits(rank,
                                      [this](int r) { return at(r).waits_for == no_rank ? no_rank : awaited_rank(r); });
    }

    void start(group& in, int rank, int lane, std::uint64_t turn, payload mine, bool) {
        require_ready(at(in.number(rank)), static_cast<bool>(failure_));
        in.at(rank).sent[lane][turn % 2].assign(mine);
        in.arrive(rank, lane);
    }
    void finish(group& in, int rank, int lane, std::uint64_t turn, std::uint64_t calls) {
        wait(in, rank, everyone, calls);
        // The other buffer is not read any more: it gets the same capacity, so that later turns allocate nothing.
        auto& sent = in.at(rank).sent[lane];
        sent[1 - turn % 2].bytes.reserve(sent[turn % 2].bytes.capacity());
    }

    payload exchange(group& in, int rank, int to, payload mine, int from) {
        rank_state& my = at(in.number(rank));
        auto& handed = in.at(rank).handed;
        require_ready(my, my.notified);  // sent again, it would reach the receiver as the next message
        if (to != no_rank) {
            in.at(to).handed.next(rank, mine.bytes.size()).assign(mine);
            in.at(to).handed.post(rank);
        }
        handed.release();  // not earlier: `mine` may lie there
        // A rank that runs ahead lets the others catch up, or a ring of P ranks could have P x P messages in flight.
        if (to != no_rank && in.at(to).handed.waiting(rank) > 8) pause(my);
        if (from == no_rank) return {};
        wait(in, rank, from, 0);
        return handed.take(from);
    }

    void require_ready(rank_state& my, bool is_over) {
        if (!is_over) return;
        my.notified = true;
        failure_.raise();
    }

    bool has_left(group const& in, int rank) const { return at(in.number(rank)).left || in.at(rank).dropped; }
    int size() const { return static_cast<int>(states_.size()); }
    int rank_of(rank_state const& s) const { return static_cast<int>(&s - states_.data()); }
    rank_state& at(int rank) { return states_[static_cast<std::size_t>(rank)]; }
    rank_state const& at(int rank) const { return states_[static_cast<std::size_t>(rank)]; }

    detail::deadline const deadline_;
    std::vector<rank_state> states_;
    std::list<rank_state*> waiting_, computing_;
    detail::paused_stack scheduler_;
    void (*live_)(fibers&, int, void*) = nullptr;
    void* body_ = nullptr;
    std::shared_ptr<group> everybody_;
    std::shared_ptr<detail::engine_link<fibers>> link_ = std::make_shared<detail::engine_link<fibers>>(*this);
    int left_ = 0;             // the number of ranks whose bodies have returned
    rank_state* deadlocked_ = nullptr;  // the rank that will report that all wait
    bool timed_out_ = false;            // a deadline has passed
    detail::abort_reason failure_;
};

}  // namespace laconic
