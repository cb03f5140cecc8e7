// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstddef>
#include <span>

#include "laconic/collective/collective.hpp"
#include "laconic/collective/parts.hpp"

namespace laconic::detail {

// x <- the sum, among ranks 0 .. q - 1, a power of two. Part r is added up by rank r.
template <class B, Scalar T>
void sum_by_halves(B& on, PointToPoint auto& comm, session& talk, std::span<T> x, std::size_t d, int q) {
    auto const me = static_cast<std::size_t>(comm.rank()), all = static_cast<std::size_t>(q);
    partition const parts{d, all};
    auto const exchange = [&](std::size_t distance, std::size_t mine, std::size_t theirs, bool adds) {
        int const partner = static_cast<int>(me ^ distance);
        auto const side = [&](std::size_t p) {
            return in_pieces<T>{parts.first(p), parts.first(p + distance) - parts.first(p)};
        };
        by_turns(
            side(mine), side(theirs),
            [&](std::size_t at, std::size_t n) { talk.send_numbers(comm, partner, x, at, n); },
            [&](std::size_t at, std::size_t n) { receive_numbers(on, comm, talk, partner, x, at, n, adds); });
    };
    for (std::size_t distance = all / 2; distance > 0; distance /= 2) {
        std::size_t const kept = me & ~(distance - 1);
        exchange(distance, kept ^ distance, kept, true);
    }
    for (std::size_t distance = 1; distance < all; distance *= 2) {
        std::size_t const mine = me & ~(distance - 1);
        exchange(distance, mine, mine ^ distance, false);
    }
}
/// x, of d numbers unless the session has failed, <- the sum of all ranks' x as halving_doubling makes it, in a session
/// that has started and that other sums may go on with: errors come at its finish().
template <class B, Scalar T>
void sum_by_halves(B& on, PointToPoint auto& comm, session& talk, std::span<T> x, std::size_t d) {
    int const me = comm.rank(), paired = static_cast<int>(std::bit_floor(static_cast<unsigned>(comm.size())));
    in_pieces<T> const all{0, d};
    auto const send = [&](int to) {
        all.each([&](std::size_t at, std::size_t n) { talk.send_numbers(comm, to, x, at, n); });
    };
    auto const receive_all = [&](int from, bool adds) {
        all.each([&](std::size_t at, std::size_t n) { receive_numbers(on, comm, talk, from, x, at, n, adds); });
    };
    if (me >= paired) {
        send(me - paired);
        return receive_all(me - paired, false);
    }
    if (me + paired < comm.size()) receive_all(me + paired, true);
    sum_by_halves(on, comm, talk, x, d, paired);
    if (me + paired < comm.size()) send(me + paired);
}

}  // namespace laconic::detail

namespace laconic {

/// The sum of dense vectors by recursive halving, in which partners exchange half of what they still add up, and
/// recursive doubling, in which they exchange all that is added up (Rabenseifner, ICCS 2004). 2 log2 P messages one
/// after another, 2 (P - 1) / P d numbers sent by each rank. If P is no power of two, and Q the largest one below P,
/// rank Q + i first sends its d numbers to rank i, from which it receives the sum at the end: 2 messages and 2 d
/// numbers more. Each part is added up by one rank for all, in pairs at distance Q / 2, Q / 4, .., so that all get the
/// same bits. More than 64 000 bytes travel in pieces of that size, of which a rank sends at most eight more than it
/// has received: on a link that holds more than 512 kB on its way that takes longer.
struct halving_doubling {
    static constexpr void description(auto&& describe) {
        describe("halving_doubling", "dense", "Rabenseifner, ICCS 2004");
    }
    template <Scalar T, OnHost B = host>
    class adder;
    bool operator==(halving_doubling const&) const = default;
};

template <Scalar T, OnHost B>
class halving_doubling::adder : detail::sum_in_session {
  public:
    using detail::sum_in_session::sum_in_session;

    void operator()(B& on, PointToPoint auto& comm, std::span<T> x, sum_round round = {}) {
        session_.start(on, comm, round, x, d_);
        detail::sum_by_halves(on, comm, session_, x, d_);
        session_.finish();
    }
};

}  // namespace laconic
