// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "laconic/comm/communicator.hpp"
#include "laconic/comm/failure.hpp"
#include "laconic/comm/mailbox.hpp"
#include "laconic/core/contract.hpp"
#include "laconic/core/error.hpp"

namespace laconic {

namespace detail {

// AddressSanitizer must be told which stack runs, or an exception there makes it blame what is right. Null where it is
// not linked in.
extern "C" {
[[gnu::weak]] void __sanitizer_start_switch_fiber(void** state, void const* bottom, std::size_t size);
[[gnu::weak]] void __sanitizer_finish_switch_fiber(void* state, void const** bottom, std::size_t* size);
}

// A stack that another may run instead of.
struct paused_stack {
    ucontext_t context{};
    void const* bottom = nullptr;
    std::size_t size = 0;  // bytes

    // Lets another run, until one goes on here.
    void go_on(paused_stack& other) {
        void* state = nullptr;
        if (&__sanitizer_start_switch_fiber) __sanitizer_start_switch_fiber(&state, other.bottom, other.size);
        swapcontext(&context, &other.context);
        if (&__sanitizer_finish_switch_fiber) __sanitizer_finish_switch_fiber(state, nullptr, nullptr);
    }
    // What a new one does first, and last: it learns where the other is, and leaves for it for good.
    static void begin(paused_stack& other) {
        if (&__sanitizer_finish_switch_fiber) __sanitizer_finish_switch_fiber(nullptr, &other.bottom, &other.size);
    }
    static void end(paused_stack const& other) {
        if (&__sanitizer_start_switch_fiber) __sanitizer_start_switch_fiber(nullptr, other.bottom, other.size);
    }
};

}  // namespace detail

/// The ranks as fibers of the calling thread, which take turns, each until it must wait for others, rank 0 first: what
/// is computed is the same as with `threads`, and where a round is short it takes a fraction of the time, as no rank
/// waits to be woken by the system. fibers::run(n, body) calls body(comm) once per rank and returns when all have;
/// where one throws, the others' meetings end with a comm_error that names it, and the first exception is thrown again.
/// Ranks that all wait for each other are told who waits for whom. Once a rank has been told a comm_error nobody waits
/// any more: all are told the same one, and whoever catches it is told it again by each later call, which hands nothing
/// over. There is no deadline: a rank that computes for ever keeps all others from going on. A rank must not meet or
/// exchange while it handles an exception. For POSIX systems with <ucontext.h>; laconic.hpp leaves it out.
class fibers {
  public:
    struct settings {
        std::size_t stack = std::size_t{1} << 20;  ///< bytes for each rank; to write beyond them ends the program
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

    /// Throws argument_error for fewer than one rank, comm_error where a rank left early or there is no memory for its
    /// stack, and whatever the body throws.
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
    // A rank's stack, below which lies a page that cannot be touched.
    struct unmap {
        std::size_t size;
        void operator()(void* p) const { munmap(p, size); }
    };
    struct seat {
        detail::paused_stack run;
        std::unique_ptr<void, unmap> stack{nullptr, unmap{0}};
        // In turns: what from() shows stays until its reader comes to the next meeting.
        std::array<mailbox::utterance, 2> said;
        mailbox handed;           // to it, and not yet taken
        int waits_for = no_rank;  // whose message it lacks, or everyone in a meeting
        std::uint64_t met = 0;    // meetings it has come to
        std::uint64_t heard = 0;  // those whose contributions it has
        bool told = false;        // why nobody can go on
        bool left = false;        // its body has returned
    };

    fibers(int ranks, settings how) : seats_(static_cast<std::size_t>(ranks)) {
        auto const page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
        std::size_t const size = (how.stack + page - 1) / page * page + page;
        for (int r = 0; r < ranks; ++r) {
            void* const p =
                mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
            if (p != MAP_FAILED) at(r).stack = {p, unmap{size}};
            auto& run = at(r).run;
            if (p == MAP_FAILED || mprotect(p, page, PROT_NONE) != 0 || getcontext(&run.context) != 0)
                throw comm_error(r, "rank " + std::to_string(r) + " could not be given a stack");
            auto* const bottom = static_cast<std::byte*>(p) + page;
            run.bottom = run.context.uc_stack.ss_sp = bottom;
            run.size = run.context.uc_stack.ss_size = size - page;
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
                scheduler_.go_on(s.run);
                moved = true;
            }
            if (moved) continue;
            // The lowest learns that it waits in vain.
            for (auto& s : seats_) {
                if (s.left) continue;
                in_vain_ = &s;
                scheduler_.go_on(s.run);
                break;
            }
        }
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
        if (!there(my)) my.run.go_on(scheduler_);
        if (there(my)) {
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
        if (to != no_rank && at(to).handed.waiting(rank) > 8) my.run.go_on(scheduler_);
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
    seat& at(int rank) { return seats_[static_cast<std::size_t>(rank)]; }
    seat const& at(int rank) const { return seats_[static_cast<std::size_t>(rank)]; }

    std::vector<seat> seats_;
    detail::paused_stack scheduler_;
    void (*live_)(fibers&, int, void*) = nullptr;
    void* body_ = nullptr;
    std::uint64_t complete_ = 0;  // meetings that every rank has come to
    int here_ = 0, left_ = 0;     // in the meeting after those; at their end
    std::uint64_t least_met_of_left_ = ~std::uint64_t{0};
    seat* in_vain_ = nullptr;  // who is to learn that all wait
    detail::failure failure_;
};

static_assert(PointToPoint<fibers::member> && Overlapping<fibers::member>);

}  // namespace laconic
