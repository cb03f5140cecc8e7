// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ucontext.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <list>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "laconic/comm/communicator.hpp"
#include "laconic/comm/deadline.hpp"
#include "laconic/comm/failure.hpp"
#include "laconic/comm/mailbox.hpp"
#include "laconic/comm/paused_stack.hpp"
#include "laconic/core/contract.hpp"
#include "laconic/core/error.hpp"

namespace laconic {

/// The ranks as fibers of the calling thread, which take turns, each until it must wait for others, rank 0 first: what
/// is computed is the same as with `threads`, and where a round is short it takes a fraction of the time, as no rank
/// waits to be woken by the system. fibers::run(n, body) calls body(comm) once per rank and returns when all have;
/// where one throws, the others' meetings end with a comm_error that names it, and the first exception is thrown again.
/// Ranks that all wait for each other are told who waits for whom. Once a rank has been told a comm_error nobody waits
/// any more: all are told the same one, and whoever catches it is told it again by each later call, which hands nothing
/// over. A rank that computes for ever keeps all others from going on. A rank must not meet or exchange while it
/// handles an exception. For POSIX systems with <ucontext.h>; laconic.hpp leaves it out.
class fibers {
  public:
    struct settings {
        std::size_t stack = std::size_t{1} << 20;  ///< bytes for each rank; to write beyond them ends the program
        /// The longest wait for the others, from a call until this rank goes on, or until its body begins; 0: no limit.
        /// Then all ranks are told a comm_error that names the rank which computed when it passed, as soon as that one
        /// waits or its body returns: nothing interrupts a rank.
        std::chrono::milliseconds deadline{0};
    };

    /// One rank's end.
    class member : public detail::one_process<member> {
      public:
        member(fibers& all, int rank) : all_(&all), rank_(rank) {}
        int rank() const { return rank_; }
        int size() const { return all_->size(); }
        void all_gather(contribution mine) {
            start_all_gather(mine);
            finish();
        }
        void start_all_gather(contribution mine) {
            under_way_.check_none();
            all_->start(rank_, mine);
            under_way_.start();
        }
        void finish() {
            under_way_.finish();
            all_->finish(rank_);
        }
        void gather(int, contribution mine) { all_gather(mine); }
        void broadcast(int root, contribution mine) { all_gather(rank_ == root ? mine : contribution{}); }
        contribution from(int r) const {
            auto const heard = all_->at(rank_).heard;
            LACONIC_EXPECTS(r >= 0 && r < size() && heard > 0 && !under_way_);
            return all_->at(r).said[(heard - 1) % 2];
        }
        contribution exchange(int to, contribution mine, int from) {
            detail::check_partners(size(), to, from);
            under_way_.check_none();
            return all_->exchange(rank_, to, mine, from);
        }

      private:
        fibers* all_;
        int rank_;
        detail::under_way under_way_;
    };

    /// Throws argument_error for fewer than one rank and for a negative deadline, comm_error where a rank left early or
    /// there is no memory for its stack, and whatever the body throws.
    template <class Body>
    static void run(int ranks, Body body, settings how) {
        if (ranks < 1) throw argument_error(std::to_string(ranks) + " ranks: at least one is needed");
        fibers all(ranks, how);
        all.live_ = [](fibers& self, int rank, void* what) {
            member me(self, rank);
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
    static constexpr int everyone = -2;
    struct seat {
        detail::mapped_stack run;
        // In turns: what from() shows stays until its reader comes to the next meeting.
        std::array<mailbox::utterance, 2> said;
        mailbox handed;                             // to it, and not yet taken
        int waits_for = no_rank;                    // whose message it lacks, or everyone in a meeting
        std::uint64_t met = 0;                      // meetings it has come to
        std::uint64_t heard = 0;                    // those whose contributions it has
        bool told = false;                          // why nobody can go on
        bool left = false;                          // its body has returned
        detail::deadline::clock::time_point until;  // it waits no longer, where there is a deadline
        std::list<seat*>::iterator place;           // in waiting_ or computing_
    };

    fibers(int ranks, settings how) : deadline_(how.deadline), seats_(static_cast<std::size_t>(ranks)) {
        for (auto& s : seats_) {
            s.place = waiting_.insert(waiting_.end(), &s);
            s.until = deadline_.from_now();
        }
        for (int r = 0; r < ranks; ++r) {
            auto& run = at(r).run;
            if (!run.map(how.stack)) throw comm_error(r, "rank " + std::to_string(r) + " could not be given a stack");
            run.context.uc_link = &scheduler_.context;
            // It can be handed nothing but ints: the halves of a pointer, and the rank.
            auto const self = reinterpret_cast<std::uintptr_t>(this);
            makecontext(&run.context, reinterpret_cast<void (*)()>(&fibers::enter), 3,
                        static_cast<unsigned>(self >> 16 >> 16), static_cast<unsigned>(self), r);
        }
    }

    static void enter(unsigned high, unsigned low, int rank) {
        auto& self = *reinterpret_cast<fibers*>(static_cast<std::uintptr_t>(high) << 16 << 16 | low);
        detail::paused_stack::begin(self.scheduler_);
        try {
            if (self.too_late_) self.failure_.tell();
            self.live_(self, rank, self.body_);
        } catch (...) {
            self.failure_.threw(rank);
        }
        self.at(rank).left = true;
        ++self.left_;
        if (auto const met = self.at(rank).met; met < self.least_met_of_left_) self.least_met_of_left_ = met;
        detail::paused_stack::end(self.scheduler_);
    }

    // Every rank goes on until it must wait, again and again, until all have left.
    void take_turns() {
        while (left_ < size()) {
            bool moved = false;
            for (auto& s : seats_) {
                if (s.left || !can_go_on(s)) continue;
                goes_on(s);
                moved = true;
            }
            if (moved) continue;
            // The lowest learns that it waits in vain.
            for (auto& s : seats_) {
                if (s.left) continue;
                in_vain_ = &s;
                goes_on(s);
                break;
            }
        }
    }
    // It does, until it must wait; meanwhile others may have waited for too long. Who waits longest stands first.
    void goes_on(seat& s) {
        computing_.splice(computing_.end(), waiting_, s.place);
        scheduler_.go_on(s.run);
        if (!deadline_ || waiting_.empty() || !deadline_.is_over(waiting_.front()->until)) return;
        auto const& first = *waiting_.front();
        bool const ready = first.waits_for == no_rank || there(first);
        int const culprit = ready ? rank_of(s) : slowest(lacks(rank_of(first)), s);
        too_late_ = true;
        failure_.is(culprit, "rank " + std::to_string(culprit) +
                                 (ready                         ? " let no other rank compute"
                                  : first.waits_for == everyone ? " did not come"
                                                                : " handed over nothing") +
                                 " within " + deadline_.text());
    }
    // Rank r, or, where it waits itself, whom it waits for in the end; where that one could go on, the one that ran.
    int slowest(int r, seat const& ran) const {
        for (int n = 0; n < size() && at(r).waits_for != no_rank && !there(at(r)); ++n) r = lacks(r);
        return can_go_on(at(r)) ? rank_of(ran) : r;
    }
    void pause(seat& s) {
        LACONIC_EXPECTS(!std::current_exception());  // all ranks share what it is kept in
        s.until = deadline_.from_now();
        waiting_.splice(waiting_.end(), computing_, s.place);
        s.run.go_on(scheduler_);
    }

    // What s waits for is there, or will never be.
    bool can_go_on(seat const& s) const {
        return s.waits_for == no_rank || there(s) || failure_ || (left_ > 0 && hopeless(s));
    }
    bool there(seat const& s) const { return s.waits_for == everyone ? complete_ >= s.met : s.handed.has(s.waits_for); }
    bool hopeless(seat const& s) const {
        return s.waits_for == everyone ? least_met_of_left_ < s.met : at(s.waits_for).left;
    }

    void wait(int rank, int whom) {
        seat& my = at(rank);
        my.waits_for = whom;
        if (!there(my)) pause(my);
        if (there(my) && !too_late_) {
            my.waits_for = no_rank;
            return;
        }
        int const late = lacks(rank);
        failure_.is(late, in_vain_ == &my ? who_waits(rank) : failure_.left(late));
        my.waits_for = no_rank;
        in_vain_ = nullptr;
        my.told = true;
        failure_.tell();
    }
    // The rank that this one waits for, in a meeting the first that has not come and, where there is one, has left.
    int lacks(int rank) const {
        seat const& s = at(rank);
        if (s.waits_for != everyone) return s.waits_for;
        int first = no_rank;
        for (int r = size() - 1; r >= 0; --r)
            if (at(r).met < s.met && (at(r).left || least_met_of_left_ >= s.met)) first = r;
        return first;
    }
    std::string who_waits(int rank) const {
        return detail::say_who_waits(rank, [this](int r) { return at(r).waits_for == no_rank ? no_rank : lacks(r); });
    }

    void start(int rank, contribution mine) {
        seat& my = at(rank);
        check_goes_on(my, static_cast<bool>(failure_));
        auto const turn = my.met;
        my.said[turn % 2].say(mine);
        ++my.met;
        if (turn == complete_ && ++here_ == size()) {
            here_ = 0;
            ++complete_;
        }
    }
    void finish(int rank) {
        wait(rank, everyone);
        // Nobody reads the other utterance any more: it is made as large as this one, so that later turns allocate
        // nothing.
        seat& my = at(rank);
        my.heard = my.met;
        my.said[my.met % 2].bytes.reserve(my.said[(my.met - 1) % 2].bytes.capacity());
    }

    contribution exchange(int rank, int to, contribution mine, int from) {
        seat& my = at(rank);
        check_goes_on(my, my.told);  // what it handed over again its receiver would take for the next
        if (to != no_rank) {
            at(to).handed.next(rank, mine.bytes.size()).say(mine);
            at(to).handed.post(rank);
        }
        my.handed.release();  // not earlier: `mine` may lie there
        // Who runs ahead lets the others catch up, lest a ring of P ranks have P x P messages under way.
        if (to != no_rank && at(to).handed.waiting(rank) > 8) pause(my);
        if (from == no_rank) return {};
        wait(rank, from);
        return my.handed.take(from);
    }

    void check_goes_on(seat& my, bool is_over) {
        if (!is_over) return;
        my.told = true;
        failure_.tell();
    }

    int size() const { return static_cast<int>(seats_.size()); }
    int rank_of(seat const& s) const { return static_cast<int>(&s - seats_.data()); }
    seat& at(int rank) { return seats_[static_cast<std::size_t>(rank)]; }
    seat const& at(int rank) const { return seats_[static_cast<std::size_t>(rank)]; }

    detail::deadline const deadline_;
    std::vector<seat> seats_;
    std::list<seat*> waiting_, computing_;
    detail::paused_stack scheduler_;
    void (*live_)(fibers&, int, void*) = nullptr;
    void* body_ = nullptr;
    std::uint64_t complete_ = 0;  // meetings that every rank has come to
    int here_ = 0, left_ = 0;     // in the meeting after those; at their end
    std::uint64_t least_met_of_left_ = ~std::uint64_t{0};
    seat* in_vain_ = nullptr;  // who is to learn that all wait
    bool too_late_ = false;    // a deadline has passed
    detail::failure failure_;
};

static_assert(PointToPoint<fibers::member> && Overlapping<fibers::member>);

}  // namespace laconic
