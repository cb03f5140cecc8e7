// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "laconic/comm/deadline.hpp"
#include "laconic/comm/mailbox.hpp"

namespace laconic::detail {

/// The messages between some ranks of one process, and how many collective calls each has entered. How ranks wait, and
/// who may call when, is up to their engine.
class local_group {
  public:
    /// One rank's part.
    struct end {
        // Two buffers for each lane, in turns: a rank that is one call ahead in the lane writes into the other one, and
        // it cannot be two ahead. So what a rank reads stays until it starts this lane again.
        per_lane<std::array<mailbox::slot, 2>> sent;
        mailbox handed;             // sent to it, and not yet received
        std::uint64_t arrived = 0;  // collective calls that it has entered
        bool dropped = false;       // it has destroyed its part
        // The last group that it has made for others. They fetch it before they enter the collective call after the
        // next, where they may wait for this rank to make another.
        std::shared_ptr<local_group> made;
    };

    /// For the ranks that have these numbers in the engine.
    explicit local_group(std::vector<int> ranks) : ranks_(std::move(ranks)), ends_(ranks_.size()) {}

    int size() const { return static_cast<int>(ranks_.size()); }
    /// The engine's number of a rank, and all of them.
    int number(int rank) const { return ranks_[static_cast<std::size_t>(rank)]; }
    std::vector<int> const& numbers() const { return ranks_; }
    end& at(int rank) { return ends_[static_cast<std::size_t>(rank)]; }
    end const& at(int rank) const { return ends_[static_cast<std::size_t>(rank)]; }

    /// This rank enters its next collective call; returns whether all have entered it now. Throws argument_error where
    /// others have entered it in another lane.
    bool arrive(int rank, int lane) {
        auto& my = at(rank);
        auto& now = open_[static_cast<int>(my.arrived % most_in_flight)];
        if (now.ranks == 0) now.lane = lane;
        if (now.lane != lane)
            throw argument_error({"rank ", number(rank), " starts an all-gather in lane ", lane,
                                  " that another rank has started in lane ", now.lane});
        ++my.arrived;
        if (++now.ranks < size()) return false;
        now.ranks = 0;
        complete_ = my.arrived;
        return true;
    }
    /// The number of collective calls that all ranks have entered.
    std::uint64_t complete() const { return complete_; }
    /// This rank has destroyed its part: it enters no call any more and sends nothing.
    void drop(int rank) { at(rank).dropped = true, ++dropped_; }
    /// The number of ranks that have.
    int dropped() const { return dropped_; }
    /// The number of the first rank that has not entered so many calls and for which such(rank) holds; or no_rank.
    int missing(std::uint64_t calls, auto such) const {
        for (int r = 0; r < size(); ++r)
            if (at(r).arrived < calls && such(r)) return number(r);
        return no_rank;
    }
    /// The least number of calls that a rank had entered for which left(rank) holds; computed anew where more have
    /// left.
    std::uint64_t least_of_left(int how_many, auto left) {
        if (std::exchange(left_, how_many) != how_many)
            for (int r = 0; r < size(); ++r)
                if (left(r)) least_of_left_ = std::min(least_of_left_, at(r).arrived);
        return least_of_left_;
    }

  private:
    struct collective_call {
        int ranks = 0, lane = 0;
    };

    std::vector<int> const ranks_;
    std::vector<end> ends_;
    std::uint64_t complete_ = 0;
    per_lane<collective_call> open_;  // the calls after the complete ones, as many as can be in flight
    int left_ = 0, dropped_ = 0;
    std::uint64_t least_of_left_ = ~std::uint64_t{0};
};

/// What a rank of a process waits for.
struct local_wait {
    static constexpr int everyone = -2;

    local_group* in = nullptr;  ///< the group in which it waits,
    int as = 0;                 ///< its own rank there,
    int waits_for = no_rank;    ///< the rank there that it waits for, or everyone,
    std::uint64_t awaited = 0;  ///< and the number of complete collective calls that it waits for
    bool notified = false;      ///< whether it got the comm_error

    /// Whether what it needs of this rank, or of everyone, is there.
    bool has(int whom) const { return whom == everyone ? in->complete() >= awaited : in->at(as).handed.has(whom); }
};

/// An engine, as the parts of its groups refer to it: none once it has ended.
template <class Engine>
struct engine_link {
    std::mutex mutex;
    Engine* engine;

    explicit engine_link(Engine& of) : engine(&of) {}
    void cut() {
        std::lock_guard lock(mutex);
        engine = nullptr;
    }
};

/// What engines share whose ranks are in one process: who waits for whom, who has left, and why ranks cannot go on. A
/// State is a local_wait and has `left`, whether the rank's body has ended.
template <class Engine, class State>
class local_engine {
  public:
    local_engine(local_engine const&) = delete;
    local_engine& operator=(local_engine const&) = delete;

  protected:
    using group = local_group;
    static constexpr int everyone = local_wait::everyone;

    /// Throws argument_error for fewer than one rank and for a negative deadline.
    [[gnu::cold]] local_engine(Engine& self, int ranks, std::chrono::milliseconds longest)
        : deadline_(longest), link_(std::make_shared<engine_link<Engine>>(self)) {
        if (ranks < 1) throw argument_error({ranks, " ranks: at least one is needed"});
        states_ = std::vector<State>(static_cast<std::size_t>(ranks));
        std::vector<int> all(states_.size());
        std::iota(all.begin(), all.end(), 0);
        everybody_ = std::make_shared<local_group>(std::move(all));
    }

    int size() const { return static_cast<int>(states_.size()); }
    State& at(int rank) { return states_[static_cast<std::size_t>(rank)]; }
    State const& at(int rank) const { return states_[static_cast<std::size_t>(rank)]; }
    int number_of(State const& s) const { return static_cast<int>(&s - states_.data()); }

    /// The number of a rank that will never bring what s waits for of `whom`, or no_rank.
    int gone(State const& s, int whom) const {
        auto const left = [this, &s](int r) { return at(s.in->number(r)).left || s.in->at(r).dropped; };
        int const how_many = left_ + s.in->dropped();
        if (how_many == 0) return no_rank;
        if (whom != everyone) return left(whom) ? s.in->number(whom) : no_rank;
        return s.in->least_of_left(how_many, left) < s.awaited ? s.in->missing(s.awaited, left) : no_rank;
    }
    /// The number of the rank that s waits for; in a collective call the first that has not come and, if there is one,
    /// has left.
    int awaited_rank(State const& s, int whom) const {
        if (whom != everyone) return s.in->number(whom);
        int const left = gone(s, whom);
        return left != no_rank ? left : s.in->missing(s.awaited, [](int) { return true; });
    }
    /// Rank r, or, where it waits itself, the last of the ranks that wait for each other.
    int last_awaited(int r) const {
        for (int n = 0; n < size() && at(r).waits_for != no_rank && !at(r).has(at(r).waits_for); ++n)
            r = awaited_rank(at(r), at(r).waits_for);
        return r;
    }
    [[gnu::cold, gnu::noinline]] std::string who_waits(State const& s) const {
        return describe_waits(number_of(s), [this](int r) {
            return at(r).waits_for == no_rank ? no_rank : awaited_rank(at(r), at(r).waits_for);
        });
    }
    static char const* what_lacks(int whom) { return whom == everyone ? " did not come" : " sent nothing"; }
    [[gnu::cold, gnu::noinline]] void timed_out(int culprit, char const* how) {
        failure_.is(culprit, concat({"rank ", culprit, how, " within ", deadline_.text()}));
    }

    deadline const deadline_;
    std::vector<State> states_;
    std::shared_ptr<group> everybody_;
    std::shared_ptr<engine_link<Engine>> link_;
    int left_ = 0;  // the number of ranks whose bodies have ended
    abort_reason failure_;
};

/// One rank's communicator in a group of ranks of one process. The engine outlives it, except that it may be destroyed
/// later. Copies are the same part. The engine has
///   start(group, rank, lane, turn, mine, about_to_wait)   for the turn-th all-gather in this lane;
///   finish(group, rank, calls)   which waits until so many collective calls are complete;
///   exchange(group, rank, to, mine, from);
///   drop(group, rank)   which wakes those that wait there for this rank, as it has destroyed its part;
///   link_, may_change_threads.
template <class Engine>
class local_member {
  public:
    local_member(Engine& engine, std::shared_ptr<local_group> group, int rank)
        : engine_(&engine), group_(std::move(group)), rank_(rank) {}
    int rank() const { return rank_; }
    int size() const { return group_->size(); }
    bool may_change_threads() const { return Engine::may_change_threads; }
    static constexpr bool in_one_process() { return true; }
    void share(payload mine) { all_gather(mine); }

    void all_gather(payload mine) {
        under_way_.check_none();
        begin(mine, 0, true);
        end(0);
    }
    void start_all_gather(payload mine, int lane = 0) {
        under_way_.start(lane, [&] { begin(mine, lane, false); });
    }
    void finish(int lane = 0) {
        under_way_.finish(lane, [&] { end(lane); });
    }
    void gather(int, payload mine) { all_gather(mine); }
    void broadcast(int root, payload mine) { all_gather(rank_ == root ? mine : payload{}); }
    payload from(int r) const {
        LACONIC_EXPECTS(r >= 0 && r < size() && current_ != none);
        return group_->at(r).sent[current_][(begun_[current_] - 1) % 2];
    }
    payload exchange(int to, payload mine, int from) {
        check_partners(size(), to, from);
        under_way_.check_none();
        return engine_->exchange(*group_, rank_, to, mine, from);
    }

    /// As Splitting describes it. The first rank of a new group makes it, and the others find it after a collective
    /// call.
    [[gnu::cold, gnu::noinline]] local_member split(int color, int key) {
        auto const ranks = subgroup(*this, color, key);
        auto& made = group_->at(ranks.front()).made;
        if (ranks.front() == rank_) {
            std::vector<int> numbers;
            for (int const r : ranks) numbers.push_back(group_->number(r));
            made = std::make_shared<local_group>(std::move(numbers));
        }
        all_gather({});
        local_member part(*engine_, made,
                          static_cast<int>(std::find(ranks.begin(), ranks.end(), rank_) - ranks.begin()));
        // While an exception passes nobody is woken: it is the reason that others should get where it ends the body.
        part.part_.reset(made.get(), [link = engine_->link_, of = made, rank = part.rank_](void*) {
            if (std::uncaught_exceptions() > 0) return;
            std::lock_guard lock(link->mutex);
            if (link->engine) link->engine->drop(*of, rank);
        });
        return part;
    }
    local_member duplicate() { return split(0, 0); }

  private:
    static constexpr int none = -1;

    void begin(payload mine, int lane, bool about_to_wait) {
        current_ = none;
        engine_->start(*group_, rank_, lane, begun_[lane], mine, about_to_wait);
        ++begun_[lane];
    }
    void end(int lane) {
        current_ = none;
        engine_->finish(*group_, rank_, ++finished_);
        // The other buffer is not read any more: it gets the same capacity, so that later turns allocate nothing.
        auto& sent = group_->at(rank_).sent[lane];
        sent[begun_[lane] % 2].bytes.reserve(sent[1 - begun_[lane] % 2].bytes.capacity());
        current_ = lane;
    }

    Engine* engine_;
    std::shared_ptr<local_group> group_;
    std::shared_ptr<void> part_;  // of a group that a split has made: where its last copy ends, drop() is called
    int rank_;
    int current_ = none;             // the lane that from() shows
    per_lane<std::uint64_t> begun_;  // all-gathers started
    std::uint64_t finished_ = 0;     // all-gathers finished, in all lanes
    under_way under_way_;
};

}  // namespace laconic::detail
