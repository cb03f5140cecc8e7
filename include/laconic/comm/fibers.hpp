// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#include "laconic/comm/communicator.hpp"
#include "laconic/core/contract.hpp"
#include "laconic/core/error.hpp"

namespace laconic {

/// The ranks as fibers of the calling thread, which take turns from meeting to meeting, rank 0 first: what is computed
/// is the same as with `threads`, and where a round is short it takes a fraction of the time, as no rank waits to be
/// woken by the system. fibers::run(n, body) calls body(comm) once per rank and returns when all have; where one
/// throws, the others' meetings end with a comm_error that names it, and the first exception is thrown again. A rank
/// must not meet the others while it handles an exception. For POSIX systems with <ucontext.h>; laconic.hpp leaves it
/// out.
class fibers {
  public:
    struct settings {
        std::size_t stack = std::size_t{1} << 20;  ///< bytes for each rank; to write beyond them ends the program
    };

    /// One rank's end.
    class member {
      public:
        member(fibers& all, int rank) : all_(&all), rank_(rank) {}
        int rank() const { return rank_; }
        int size() const { return static_cast<int>(all_->seats_.size()); }
        void all_gather(contribution mine) { all_->meet(rank_, mine); }
        void gather(int, contribution mine) { all_gather(mine); }
        void broadcast(int root, contribution mine) { all_gather(rank_ == root ? mine : contribution{}); }
        contribution from(int r) const {
            auto const met = all_->at(rank_).met;
            LACONIC_EXPECTS(r >= 0 && r < size() && met > 0);
            auto const& said = all_->at(r).said[(met - 1) % 2];
            return {said.bytes, said.complaint};
        }

      private:
        fibers* all_;
        int rank_;
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
        while (all.take_turns()) {
        }
        if (all.failure_) std::rethrow_exception(all.failure_);
    }
    template <class Body>
    static void run(int ranks, Body body) {
        run(ranks, std::move(body), settings{});
    }

  private:
    struct utterance {
        std::vector<std::byte> bytes;
        bool complaint = false;
    };
    // A rank's stack, below which lies a page that cannot be touched.
    struct unmap {
        std::size_t size;
        void operator()(void* p) const { munmap(p, size); }
    };
    struct seat {
        ucontext_t context{};
        std::unique_ptr<void, unmap> stack{nullptr, unmap{0}};
        std::array<utterance, 2> said;  // in turns: what from() shows stays until its reader comes to the next meeting
        std::uint64_t met = 0;          // meetings it has come to
        bool left = false;              // its body has returned
    };

    fibers(int ranks, settings how) : seats_(static_cast<std::size_t>(ranks)) {
        auto const page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
        std::size_t const size = (how.stack + page - 1) / page * page + page;
        for (int r = 0; r < ranks; ++r) {
            void* const p =
                mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
            if (p != MAP_FAILED) at(r).stack = {p, unmap{size}};
            if (p == MAP_FAILED || mprotect(p, page, PROT_NONE) != 0 || getcontext(&at(r).context) != 0)
                throw comm_error(r, "rank " + std::to_string(r) + " could not be given a stack");
            at(r).context.uc_stack.ss_sp = static_cast<std::byte*>(p) + page;
            at(r).context.uc_stack.ss_size = size - page;
            at(r).context.uc_link = &scheduler_;
            // It can be handed nothing but ints: the halves of a pointer, and the rank.
            auto const self = reinterpret_cast<std::uintptr_t>(this);
            makecontext(&at(r).context, reinterpret_cast<void (*)()>(&fibers::enter), 3,
                        static_cast<unsigned>(self >> 16 >> 16), static_cast<unsigned>(self), r);
        }
    }

    static void enter(unsigned high, unsigned low, int rank) {
        auto& self = *reinterpret_cast<fibers*>(static_cast<std::uintptr_t>(high) << 16 << 16 | low);
        try {
            self.live_(self, rank, self.body_);
        } catch (std::exception const& e) {
            self.fail(rank, e.what());
        } catch (...) {
            self.fail(rank, "an exception that is no std::exception");
        }
        self.at(rank).left = true;
    }

    // Every rank that has not left goes on to its next meeting, or to its end. Returns whether one is left.
    bool take_turns() {
        bool any = false;
        for (auto& s : seats_) {
            if (s.left) continue;
            swapcontext(&scheduler_, &s.context);
            any = any || !s.left;
        }
        return any;
    }

    void meet(int rank, contribution mine) {
        seat& my = at(rank);
        auto const turn = my.met++;
        auto& said = my.said[turn % 2];
        said.bytes.assign(mine.bytes.begin(), mine.bytes.end());
        said.complaint = mine.complaint;
        swapcontext(&my.context, &scheduler_);
        // By now every other rank has come, too, or will never.
        for (int r = 0; r < static_cast<int>(seats_.size()); ++r) {
            if (at(r).met > turn) continue;
            if (failure_) throw comm_error(failed_, "rank " + std::to_string(failed_) + " failed: " + why_);
            throw comm_error(r, "rank " + std::to_string(r) + " left before the others were done");
        }
        // Nobody reads the other utterance any more: it is made as large as this one, so that later turns allocate
        // nothing.
        my.said[(turn + 1) % 2].bytes.reserve(said.bytes.capacity());
    }

    void fail(int rank, std::string const& why) {
        if (failure_) return;
        failure_ = std::current_exception();
        failed_ = rank;
        why_ = why;
    }

    seat& at(int rank) { return seats_[static_cast<std::size_t>(rank)]; }

    std::vector<seat> seats_;
    ucontext_t scheduler_{};
    void (*live_)(fibers&, int, void*) = nullptr;
    void* body_ = nullptr;
    std::exception_ptr failure_;
    int failed_ = -1;
    std::string why_;
};

static_assert(Communicator<fibers::member>);

}  // namespace laconic
