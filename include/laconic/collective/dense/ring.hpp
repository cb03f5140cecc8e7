// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>

#include "laconic/collective/collective.hpp"
#include "laconic/collective/parts.hpp"

namespace laconic {

/// The sum of dense vectors by a ring (Patarasuk, Yuan, 2009): in P - 1 steps each part goes round and is added to, and
/// in P - 1 more it goes round as it is. 2 (P - 1) messages one after another, 2 (P - 1) / P d numbers sent by each
/// rank, to within 2 (P - 1): the fewest that there can be. Part p is added up in the order of ranks p, p + 1, .., p -
/// 1, and by one rank for all, so that all get the same bits. Parts of more than 64 000 bytes are handed on in pieces
/// of that size, each as soon as it is added up.
struct ring {
    static constexpr void description(auto&& describe) { describe("ring", "dense", "Patarasuk, Yuan, JPDC 2009"); }
    template <Scalar T, OnHost B = host>
    class adder;
    bool operator==(ring const&) const = default;
};

template <Scalar T, OnHost B>
class ring::adder : detail::sum_in_session {
  public:
    using detail::sum_in_session::sum_in_session;

    void operator()(B& on, PointToPoint auto& comm, std::span<T> x, sum_round round = {}) {
        auto const n = static_cast<std::size_t>(comm.size()), me = static_cast<std::size_t>(comm.rank());
        session_.start(on, comm, round, x, d_);
        go_round(on, comm, x, me, 2 * (n - 1));
        session_.finish();
    }
    /// The part of x that has this rank's number <- that part of the sum, by the first half of the ring: P - 1
    /// messages, and a collective call of no bytes, by which all ranks throw the same. After it the rest of x is
    /// unspecified.
    void reduce_scatter(B& on, PointToPoint auto& comm, std::span<T> x, sum_round const& round = {}) {
        auto const n = static_cast<std::size_t>(comm.size()), me = static_cast<std::size_t>(comm.rank());
        session_.start(on, comm, round, x, d_);
        go_round(on, comm, x, (me + n - 1) % n, n - 1);
        session_.share_failure(comm);
        session_.finish();
    }

  private:
    // Sends part `first`, and then in each of so many steps receives the part before, which the next step sends: in P -
    // 1 steps it is added to, from then on it is the sum.
    void go_round(B& on, PointToPoint auto& comm, std::span<T> x, std::size_t first_part, std::size_t steps) {
        auto const n = static_cast<std::size_t>(comm.size()), me = static_cast<std::size_t>(comm.rank());
        int const next = static_cast<int>((me + 1) % n), last = static_cast<int>((me + n - 1) % n);
        detail::partition const parts{d_, n};
        auto const each_piece = [&](std::size_t p, auto f) {
            detail::in_pieces<T>{parts.first(p), parts.length(p)}.each(f);
        };
        auto const send = [&](std::size_t first, std::size_t length) {
            session_.send_numbers(comm, next, x, first, length);
        };
        if (steps > 0) each_piece(first_part, send);
        for (std::size_t step = 0; step < steps; ++step)
            each_piece((first_part + 2 * n - step - 1) % n, [&](std::size_t first, std::size_t length) {
                detail::receive_numbers(on, comm, session_, last, x, first, length, step + 1 < n);
                if (step + 1 < steps) send(first, length);
            });
    }
};

}  // namespace laconic
