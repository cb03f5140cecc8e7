// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "laconic/comm/communicator.hpp"
#include "laconic/comm/local_group.hpp"
#include "laconic/comm/subgroup.hpp"
#include "laconic/core/contract.hpp"

namespace laconic::detail {

/// An engine, as the parts of its groups refer to it: none once it has ended.
template <class Engine>
class engine_link {
  public:
    explicit engine_link(Engine& engine) : engine_(&engine) {}
    /// Ends it, before the engine ends.
    void cut() {
        std::lock_guard lock(mutex_);
        engine_ = nullptr;
    }
    /// use(engine), unless it has ended.
    template <class Use>
    void with(Use use) {
        std::lock_guard lock(mutex_);
        if (engine_) use(*engine_);
    }

  private:
    std::mutex mutex_;
    Engine* engine_;
};

/// One rank's part of a group that a split has made. Where it ends, the engine's drop(group, rank) wakes those that
/// wait there for this rank. It is not called while an exception passes, which is the reason that others should get
/// where it ends the rank's body.
template <class Engine>
struct local_part {
    std::shared_ptr<engine_link<Engine>> link;
    std::shared_ptr<local_group> group;
    int rank;

    local_part(std::shared_ptr<engine_link<Engine>> to, std::shared_ptr<local_group> of, int as)
        : link(std::move(to)), group(std::move(of)), rank(as) {}
    local_part(local_part const&) = delete;
    local_part& operator=(local_part const&) = delete;
    ~local_part() {
        if (std::uncaught_exceptions() == 0) link->with([this](Engine& engine) { engine.drop(*group, rank); });
    }
};

/// One rank's communicator in a group of ranks of one process. The engine outlives it, except that it may be destroyed
/// later. Copies are the same part. The engine has
///   start(group, rank, lane, turn, mine, about_to_wait)   for the turn-th all-gather in this lane;
///   finish(group, rank, lane, turn, calls)   which waits until so many collective calls are complete;
///   exchange(group, rank, to, mine, from);
///   drop(group, rank)   which wakes those that wait there for this rank, as it has destroyed its part;
///   link(), its engine_link;
///   may_change_threads.
template <class Engine>
class local_member : public one_process<local_member<Engine>> {
  public:
    local_member(Engine& engine, std::shared_ptr<local_group> group, int rank)
        : engine_(&engine), group_(std::move(group)), rank_(rank) {}
    int rank() const { return rank_; }
    int size() const { return group_->size(); }
    bool may_change_threads() const { return Engine::may_change_threads; }

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
        part.part_ = std::make_shared<local_part<Engine>>(engine_->link(), made, part.rank_);
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
        engine_->finish(*group_, rank_, lane, begun_[lane] - 1, ++finished_);
        current_ = lane;
    }

    Engine* engine_;
    std::shared_ptr<local_group> group_;
    std::shared_ptr<local_part<Engine>> part_;  // none in the group of all ranks
    int rank_;
    int current_ = none;             // the lane that from() shows
    per_lane<std::uint64_t> begun_;  // all-gathers started
    std::uint64_t finished_ = 0;     // all-gathers finished, in all lanes
    under_way under_way_;
};

}  // namespace laconic::detail
