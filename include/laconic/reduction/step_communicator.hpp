// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "laconic/comm/communicator.hpp"
#include "laconic/comm/metered.hpp"

namespace laconic::detail {

/// The communicator of a step behind one interface, so that what controls a step is compiled once for all types of
/// communicators. It is Overlapping: where the one behind it is not, start_all_gather() waits.
class step_communicator {
  public:
    virtual int rank() const = 0;
    virtual int size() const = 0;
    virtual void all_gather(payload mine) = 0;
    virtual void gather(int root, payload mine) = 0;
    virtual void broadcast(int root, payload mine) = 0;
    virtual payload from(int r) const = 0;
    virtual void start_all_gather(payload mine, int lane = 0) = 0;
    virtual void finish(int lane = 0) = 0;

  protected:
    ~step_communicator() = default;
};

/// Such a one over a communicator of type C, whose bytes it counts. It does not own it.
template <Communicator C>
class counted_communicator final : public step_communicator {
  public:
    explicit counted_communicator(C& of) : counted_(of) {}

    metered<C>& counted() { return counted_; }
    metered<C> const& counted() const { return counted_; }

    int rank() const override { return counted_.rank(); }
    int size() const override { return counted_.size(); }
    void all_gather(payload mine) override { counted_.all_gather(mine); }
    void gather(int root, payload mine) override { counted_.gather(root, mine); }
    void broadcast(int root, payload mine) override { counted_.broadcast(root, mine); }
    payload from(int r) const override { return counted_.from(r); }
    void start_all_gather(payload mine, [[maybe_unused]] int lane = 0) override {
        if constexpr (Overlapping<C>)
            counted_.start_all_gather(mine, lane);
        else
            counted_.all_gather(mine);
    }
    void finish([[maybe_unused]] int lane = 0) override {
        if constexpr (Overlapping<C>) counted_.finish(lane);
    }

  private:
    metered<C> counted_;
};

}  // namespace laconic::detail
