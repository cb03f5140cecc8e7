// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "laconic/comm/metered.hpp"
#include "laconic/transport/rank_messages.hpp"

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

    int rank() const override { return counted_.rank(); }
    int size() const override { return counted_.size(); }
    void all_gather(payload mine) override { counted_.all_gather(mine); }
    void gather(int root, payload mine) override { counted_.gather(root, mine); }
    void broadcast(int root, payload mine) override { counted_.broadcast(root, mine); }
    payload from(int r) const override { return counted_.from(r); }
    void start_all_gather(payload mine, int lane = 0) override { detail::start_all_gather(counted_, mine, lane); }
    void finish(int lane = 0) override { finish_all_gather(counted_, lane); }

  private:
    metered<C> counted_;
};

/// What rank `root` broadcasts, or this one, if that is another, gets: so many bytes, valid until the next call. Throws
/// comm_error where there are others.
std::span<std::byte const> broadcast_from(Communicator auto& comm, int root, std::span<std::byte const> mine) {
    comm.broadcast(root, {mine});
    return bytes_from(comm, root, mine.size(), "its vector");
}

/// A reducer's own duplicate of a communicator, so that its messages do not mix with other traffic there; where the
/// communicator cannot be duplicated, that communicator itself. To make one is a collective call.
template <Communicator C>
struct own_communicator {
    kept<C> shared;
    explicit own_communicator(C& of) : shared(of) {}
    C& comm() { return *shared; }
};
template <Splitting C>
struct own_communicator<C> {
    C made;
    explicit own_communicator(C& of) : made(of.duplicate()) {}
    C& comm() { return made; }
};

/// What the layers of a step compute and send with, on one rank: the backend and, once they are connected, the step's
/// own communicator, with one count for messages and one for probes and comparisons.
template <Communicator C, class B>
struct step_resources {
    struct connection {
        own_communicator<C> own;
        counted_communicator<C> messages, watching;

        explicit connection(C& of) : own(of), messages(own.comm()), watching(own.comm()) {}
    };

    B on{};
    std::unique_ptr<connection> over{};

    void connect(C& of) { over = std::make_unique<connection>(of); }
    metered<C>& comm() const { return over->messages.counted(); }
    metered<C>& watching() const { return over->watching.counted(); }
};

}  // namespace laconic::detail
