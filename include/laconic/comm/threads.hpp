// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "laconic/comm/communicator.hpp"
#include "laconic/core/contract.hpp"
#include "laconic/core/error.hpp"

namespace laconic {

/// The default engine: the ranks are threads of one process, and what they say to each other is copied as bytes.
/// threads::run(n, body) calls body(comm) once per rank and returns when all have; where one throws, the others' waits
/// end with a comm_error that names it, every thread is joined, and the first exception is thrown again.
class threads {
  public:
    struct settings {
        int at_once = 0;  ///< how many ranks may compute at the same time; 0: all. The result does not depend on it.
        std::chrono::milliseconds deadline{0};  ///< the longest wait for the others, turns to compute included; 0: none
    };

    /// One rank's end. Use it from that rank's thread only.
    class member {
      public:
        member(threads& all, int rank) : all_(&all), rank_(rank) {}
        int rank() const { return rank_; }
        int size() const { return all_->size_; }
        void all_gather(contribution mine) { all_->meet(rank_, gathered_++, mine); }
        void gather(int, contribution mine) { all_gather(mine); }
        void broadcast(int root, contribution mine) { all_gather(rank_ == root ? mine : contribution{}); }
        contribution from(int r) const {
            LACONIC_EXPECTS(r >= 0 && r < size() && gathered_ > 0);
            auto const& said = all_->said_[(gathered_ - 1) % 2][static_cast<std::size_t>(r)];
            return {said.bytes, said.complaint};
        }

      private:
        threads* all_;
        int rank_;
        std::uint64_t gathered_ = 0;
    };

    /// Throws argument_error for fewer than one rank, comm_error where a rank left early or came too late, and whatever
    /// the body throws.
    template <class Body>
    static void run(int ranks, Body body, settings how) {
        if (ranks < 1) throw argument_error(std::to_string(ranks) + " ranks: at least one is needed");
        threads all(ranks, how);
        std::vector<std::thread> started;
        try {
            for (int r = 0; r < ranks; ++r) started.emplace_back([&all, &body, r] { all.live(r, body); });
        } catch (...) {  // the system has no thread left
            all.fail(static_cast<int>(started.size()), std::current_exception(), "its thread could not be started");
        }
        for (auto& t : started) t.join();
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
    struct seat {
        std::condition_variable called;
        bool may_compute = false;
        bool left = false;          // its body has returned
        std::uint64_t arrived = 0;  // meetings it has come to
    };

    threads(int ranks, settings how)
        : size_(ranks), at_once_(how.at_once > 0 ? how.at_once : ranks), deadline_(how.deadline) {
        auto const n = static_cast<std::size_t>(ranks);
        for (auto& turn : said_) turn.resize(n);
        seats_ = std::vector<seat>(n);
        ready_.reserve(n);
        everyone_is_ready();
    }

    template <class Body>
    void live(int rank, Body& body) {
        seat& mine = seats_[static_cast<std::size_t>(rank)];
        try {
            {
                std::unique_lock lock(mutex_);
                mine.called.wait(lock, [&] { return mine.may_compute; });
            }
            member me(*this, rank);
            body(me);
        } catch (std::exception const& e) {
            fail(rank, std::current_exception(), e.what());
        } catch (...) {
            fail(rank, std::current_exception(), "an exception that is no std::exception");
        }
        std::lock_guard lock(mutex_);
        mine.left = true;
        stop_computing(mine);
        for (auto& other : seats_) other.called.notify_one();  // who waits for this rank waits in vain
    }

    // Two sets of buffers take turns: a rank that is one meeting ahead writes into the other set, and it cannot be two
    // ahead, so what from() shows stays until its reader comes to the next meeting.
    void meet(int rank, std::uint64_t turn, contribution mine) {
        seat& my = seats_[static_cast<std::size_t>(rank)];
        auto& said = said_[turn % 2][static_cast<std::size_t>(rank)];
        said.bytes.assign(mine.bytes.begin(), mine.bytes.end());
        said.complaint = mine.complaint;
        std::unique_lock lock(mutex_);
        if (complete_ < turn) give_up(late_rank(complete_), "did not come to an earlier meeting");
        my.arrived = turn + 1;
        stop_computing(my);
        if (++here_ == size_) {
            here_ = 0;
            complete_ = turn + 1;
            everyone_is_ready();
        }
        auto const over = [&] { return complete_ > turn ? my.may_compute : failed_ || left_rank(turn) >= 0; };
        if (deadline_.count() == 0)
            my.called.wait(lock, over);
        else if (!my.called.wait_for(lock, deadline_, [&] { return complete_ > turn || over(); }))
            give_up(late_rank(turn), "did not come within " + std::to_string(deadline_.count()) + " ms");
        if (complete_ <= turn && failed_) give_up(failed_rank_, "failed: " + failed_why_);
        if (complete_ <= turn) give_up(left_rank(turn), "left before the others were done");
        my.called.wait(lock, [&] { return my.may_compute; });
        // Nobody reads the other set any more: it is made as large as this one, so that later turns allocate nothing.
        said_[(turn + 1) % 2][static_cast<std::size_t>(rank)].bytes.reserve(said.bytes.capacity());
    }

    [[noreturn]] static void give_up(int culprit, std::string const& why) {
        throw comm_error(culprit, "rank " + std::to_string(culprit) + " " + why);
    }

    // At most at_once_ ranks compute; the others wait to be called, in the order of ranks. All under the mutex.
    void everyone_is_ready() {
        ready_.clear();
        for (auto& s : seats_) ready_.push_back(&s);
        next_ready_ = 0;
        call_next();
    }
    void stop_computing(seat& s) {
        if (s.may_compute) --computing_;
        s.may_compute = false;
        call_next();
    }
    void call_next() {
        while (computing_ < at_once_ && next_ready_ < ready_.size()) {
            seat& s = *ready_[next_ready_++];
            if (s.left) continue;
            s.may_compute = true;
            ++computing_;
            s.called.notify_one();
        }
    }

    void fail(int rank, std::exception_ptr what, std::string const& why) {
        std::lock_guard lock(mutex_);
        if (!failed_) {
            failed_ = true;
            failed_rank_ = rank;
            failed_why_ = why;
            failure_ = what;
        }
        for (auto& s : seats_) s.called.notify_one();
    }

    // A rank that will not come to this meeting, or -1.
    int left_rank(std::uint64_t turn) const {
        for (std::size_t r = 0; r < seats_.size(); ++r)
            if (seats_[r].left && seats_[r].arrived <= turn) return static_cast<int>(r);
        return -1;
    }
    int late_rank(std::uint64_t turn) const {
        for (std::size_t r = 0; r < seats_.size(); ++r)
            if (seats_[r].arrived <= turn) return static_cast<int>(r);
        return -1;
    }

    int const size_, at_once_;
    std::chrono::milliseconds const deadline_;
    std::array<std::vector<utterance>, 2> said_;

    std::mutex mutex_;
    std::vector<seat> seats_;
    std::vector<seat*> ready_;  // to be called to compute, from next_ready_ on
    std::size_t next_ready_ = 0;
    int computing_ = 0, here_ = 0;
    std::uint64_t complete_ = 0;  // meetings that every rank has come to
    bool failed_ = false;
    int failed_rank_ = -1;
    std::string failed_why_;
    std::exception_ptr failure_;
};

static_assert(Communicator<threads::member>);

}  // namespace laconic
