// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <type_traits>

#include "laconic/comm/array_carrier.hpp"
#include "laconic/core/kept.hpp"

namespace laconic {

/// Counts the bytes that this rank sends to and receives from others, through any communicator; not its own payload in
/// from(), nor envelopes (lengths, and the mark of an error frame), which belong to the engine.
template <Communicator C>
class metered {
  public:
    explicit metered(C& inner) : inner_(inner) {}

    int rank() const { return inner_->rank(); }
    int size() const { return inner_->size(); }
    bool may_change_threads() const { return detail::may_change_threads(*inner_); }
    void all_gather(payload mine) {
        inner_->all_gather(mine);
        count_to_all(sent_, mine.bytes.size());
        received_ += from_others();
    }
    void start_all_gather(payload mine, int lane = 0) requires Overlapping<C> {
        inner_->start_all_gather(mine, lane);
        started_[lane] = mine.bytes.size();
    }
    void finish(int lane = 0) requires Overlapping<C> {
        inner_->finish(lane);
        count_to_all(sent_, started_[lane]);
        received_ += from_others();
    }
    void gather(int root, payload mine) {
        inner_->gather(root, mine);
        sent_ += mine.bytes.size();
        rank() == root ? gathered_ += from_others() : out_ += mine.bytes.size();
    }
    void broadcast(int root, payload mine) {
        inner_->broadcast(root, mine);
        if (rank() == root)
            count_to_all(broadcast_, mine.bytes.size());
        else
            received_ += from(root).bytes.size();
    }
    payload from(int r) const { return inner_->from(r); }
    payload exchange(int to, payload mine, int from) requires PointToPoint<C> {
        auto const received = inner_->exchange(to, mine, from);
        if (to != no_rank && to != rank()) count(mine.bytes.size());
        if (from != no_rank && from != rank()) received_ += received.bytes.size();
        return received;
    }

    /// Counts the numbers that this rank passes to its engine and gets back; the bytes that the engine really sends are
    /// not known here.
    template <class T>
    void all_reduce(std::span<T> x) requires AllReducer<C, T> {
        inner_->all_reduce(x);
        count(x.size_bytes());
        received_ += x.size_bytes();
    }

    /// The transfers of an ArrayCarrier, counted as in all_gather and exchange.
    void together(auto calls) requires detail::CarriesArrays<C> { inner_->together(calls); }
    template <class E>
    void spread(int root, std::span<E const> mine, std::span<E> theirs) requires detail::CarriesArrays<C> {
        inner_->spread(root, mine, theirs);
        root == rank() ? count_to_all(sent_, theirs.size_bytes()) : void(received_ += theirs.size_bytes());
    }
    template <class E>
    void send(int to, std::span<E const> mine) requires detail::CarriesArrays<C> {
        inner_->send(to, mine);
        count(mine.size_bytes());
    }
    template <class E>
    void receive(int from, std::span<E> theirs) requires detail::CarriesArrays<C> {
        inner_->receive(from, theirs);
        received_ += theirs.size_bytes();
    }
    void require_stream_of(auto const& on) const requires detail::CarriesArrays<C> { inner_->require_stream_of(on); }

    /// As one of many: sent by all_gather, gather and all_reduce, and to another rank by exchange. In bytes, as all
    /// below.
    std::uint64_t bytes_sent() const { return sent_; }
    /// As one of many: received from others by all_gather and exchange, and from the root by broadcast; the sums of
    /// all_reduce.
    std::uint64_t bytes_received() const { return received_; }
    /// As the root: sent by broadcast, counted once for all receivers.
    std::uint64_t bytes_broadcast() const { return broadcast_; }
    /// As the root: received from others by gather.
    std::uint64_t bytes_gathered() const { return gathered_; }

    /// What leaves this rank over its link if what goes to all others is sent to each of them in turn: all of the above
    /// that it sends, of all_gather and broadcast once for each receiver, and nothing of a gather at its root.
    std::uint64_t bytes_out() const { return out_; }

    /// The communicator underneath: calls to it directly are not counted.
    C& inner() const { return *inner_; }

  private:
    void count(std::uint64_t bytes) { sent_ += bytes, out_ += bytes; }
    void count_to_all(std::uint64_t& sum, std::uint64_t bytes) {
        sum += bytes;
        out_ += bytes * static_cast<std::uint64_t>(size() - 1);
    }
    std::uint64_t from_others() const {
        std::uint64_t sum = 0;
        for (int r = 0; r < size(); ++r)
            if (r != rank()) sum += from(r).bytes.size();
        return sum;
    }

    detail::kept<C> inner_;
    std::uint64_t sent_ = 0, received_ = 0, broadcast_ = 0, gathered_ = 0, out_ = 0;
    detail::per_lane<std::uint64_t> started_;  // counted when they are finished
};

}  // namespace laconic

namespace laconic::detail {

/// A communicator around another, comm.inner().
template <class C>
concept Wraps = requires(C& comm) {
    requires Communicator<std::remove_cvref_t<decltype(comm.inner())>>;
};

/// The communicator under counters and other wrappers; a communicator that wraps none is returned itself.
template <Communicator C>
decltype(auto) innermost(C& comm) {
    if constexpr (requires { comm.innermost(); })
        return comm.innermost();
    else if constexpr (Wraps<C>)
        return innermost(comm.inner());
    else
        return (comm);
}

}  // namespace laconic::detail
