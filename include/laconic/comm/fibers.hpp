// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <list>
#include <memory>

#include "laconic/comm/local_member.hpp"

namespace laconic::detail {

// AddressSanitizer needs to know which stack runs, or it reports exceptions there as errors. Null where it is not
// linked.
extern "C" {
[[gnu::weak]] void __sanitizer_start_switch_fiber(void** state, void const* bottom, std::size_t size);
[[gnu::weak]] void __sanitizer_finish_switch_fiber(void* state, void const** bottom, std::size_t* size);
}

/// A stack on which execution can pause while another runs.
struct paused_stack {
    ucontext_t context{};
    void const* bottom = nullptr;
    std::size_t size = 0;  // bytes

    /// Runs `other`, until another stack switches back to this one.
    void resume(paused_stack& other) {
        void* state = nullptr;
        if (&__sanitizer_start_switch_fiber) __sanitizer_start_switch_fiber(&state, other.bottom, other.size);
        swapcontext(&context, &other.context);
        if (&__sanitizer_finish_switch_fiber) __sanitizer_finish_switch_fiber(state, nullptr, nullptr);
    }
    /// The first call, and the last, on a new stack: it gets the bounds of the other stack, and leaves for it for good.
    static void begin(paused_stack& other) {
        if (&__sanitizer_finish_switch_fiber) __sanitizer_finish_switch_fiber(nullptr, &other.bottom, &other.size);
    }
    static void end(paused_stack const& other) {
        if (&__sanitizer_start_switch_fiber) __sanitizer_start_switch_fiber(nullptr, other.bottom, other.size);
    }
};

/// A stack in memory of its own, below which lies a page that cannot be accessed.
class mapped_stack : public paused_stack {
  public:
    /// Maps so many bytes, rounded up to pages, and makes a context that runs there; returns whether there was memory
    /// for it.
    bool map(std::size_t bytes) {
        auto const page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
        size = (bytes + page - 1) / page * page;
        void* const p =
            mmap(nullptr, page + size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (p == MAP_FAILED) return false;
        memory_.reset(p, [all = page + size](void* mapped) { munmap(mapped, all); });
        bottom = static_cast<std::byte*>(p) + page;
        if (mprotect(p, page, PROT_NONE) != 0 || getcontext(&context) != 0) return false;
        context.uc_stack.ss_sp = static_cast<std::byte*>(p) + page;
        context.uc_stack.ss_size = size;
        return true;
    }

  private:
    std::shared_ptr<void> memory_;
};

struct fiber_state : local_wait {
    mapped_stack run;
    bool left = false;                        // its body has returned
    deadline::clock::time_point until;        // the end of its wait, where there is a deadline
    std::list<fiber_state*>::iterator place;  // in waiting_ or computing_
};

}  // namespace laconic::detail

namespace laconic {

/// The ranks as fibers of the calling thread, which take turns, each until it must wait for others, rank 0 first. The
/// results and the errors are the same as with `threads`, and where a round is short it takes a fraction of the time,
/// as the system need not wake any rank. fibers::run(n, body) calls body(comm) once per rank and returns when all have
/// returned. A rank that computes for ever keeps all others from going on. A rank must not communicate while it handles
/// an exception. For POSIX systems with <ucontext.h>; all.hpp leaves it out.
class fibers : detail::local_engine<fibers, detail::fiber_state> {
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
    static void run(int ranks, auto body, settings how) { run_all(ranks, how, &body, give_to<decltype(body)>); }
    static void run(int ranks, auto body) { run_all(ranks, {}, &body, give_to<decltype(body)>); }

  private:
    friend detail::local_member<fibers>;
    static constexpr bool may_change_threads = false;
    using rank_state = detail::fiber_state;

    // Calls a body, whose type is known here alone, so that the rest is compiled once.
    template <class Body>
    static void give_to(void* body, member& me) {
        (*static_cast<Body*>(body))(me);
    }
    static void run_all(int ranks, settings how, void* body, void (*give)(void*, member&)) {
        fibers all(ranks, how);
        all.body_ = body;
        all.give_ = give;
        all.take_turns();
        all.failure_.rethrow();
    }
    ~fibers() { link_->cut(); }
    fibers(int ranks, settings how) : local_engine(*this, ranks, how.deadline) {
        for (auto& s : states_) {
            s.place = waiting_.insert(waiting_.end(), &s);
            s.until = deadline_.from_now();
        }
        for (int r = 0; r < ranks; ++r) {
            auto& run = at(r).run;
            if (!run.map(how.stack)) throw comm_error(r, {"rank ", r, " could not be given a stack"});
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
            member me(self, self.everybody_, rank);
            self.give_(self.body_, me);
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
        timed_out_ = true;
        if (ready) return timed_out(number_of(s), " let no other rank compute");
        int const slowest = last_awaited(awaited_rank(first, first.waits_for));
        timed_out(can_go_on(at(slowest)) ? number_of(s) : slowest, what_lacks(first.waits_for));
    }
    void pause(rank_state& s) {
        LACONIC_EXPECTS(!std::current_exception());  // all ranks share the place where it is kept
        s.until = deadline_.from_now();
        waiting_.splice(waiting_.end(), computing_, s.place);
        s.run.resume(scheduler_);
    }

    static void drop(group& in, int rank) { in.drop(rank); }  // take_turns() looks

    // Whether what s waits for is there, or will never be.
    bool can_go_on(rank_state const& s) const {
        return s.waits_for == no_rank || there(s) || failure_ || gone(s, s.waits_for) != no_rank;
    }
    static bool there(rank_state const& s) { return s.has(s.waits_for); }
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
        int const missing = awaited_rank(my, whom);
        failure_.is(missing, deadlocked_ == &my ? who_waits(my) : failure_.left(missing));
        my.waits_for = no_rank;
        deadlocked_ = nullptr;
        my.notified = true;
        failure_.raise();
    }
    void start(group& in, int rank, int lane, std::uint64_t turn, payload mine, bool) {
        require_ready(at(in.number(rank)), static_cast<bool>(failure_));
        in.at(rank).sent[lane][turn % 2].assign(mine);
        in.arrive(rank, lane);
    }
    void finish(group& in, int rank, std::uint64_t calls) { wait(in, rank, everyone, calls); }
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

    std::list<rank_state*> waiting_, computing_;
    detail::paused_stack scheduler_;
    void* body_ = nullptr;  // of every rank, and what calls it
    void (*give_)(void*, member&) = nullptr;
    rank_state* deadlocked_ = nullptr;  // the rank that will report that all wait
    bool timed_out_ = false;            // a deadline has passed
};

}  // namespace laconic
