// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>

#include "laconic/comm/communicator.hpp"
#include "laconic/core/partition.hpp"
#include "laconic/wire/number.hpp"
#include "laconic/wire/stream.hpp"

namespace laconic::detail {

// The `length` coordinates from `first` on, in pieces, at least one: one is added up while the next is on its way.
template <Scalar T>
struct in_pieces {
    static constexpr std::size_t longest = longest_piece / sizeof(T);
    std::size_t first, length;

    std::size_t count() const { return std::max<std::size_t>(1, (length + longest - 1) / longest); }
    // f(first, length) for piece p.
    template <class F>
    void visit(std::size_t p, F f) const {
        f(first + p * longest, std::min(longest, length - p * longest));
    }
    template <class F>
    void each(F f) const {
        for (std::size_t p = 0; p < count(); ++p) visit(p, f);
    }
};

// Who sends pieces and receives others by turns has sent at most so many more than it has received, as long as there is
// something to receive. What a quick rank sent to its next partner would take its share of the link through which that
// one still receives its last, who then were late as well.
inline constexpr std::size_t pieces_ahead = 8;

// Calls send(first, length) and receive(first, length) for each piece.
template <Scalar T, class Send, class Receive>
void by_turns(in_pieces<T> sent, in_pieces<T> received, Send send, Receive receive) {
    for (std::size_t p = 0; p < std::max(sent.count(), received.count() + pieces_ahead); ++p) {
        if (p >= pieces_ahead && p - pieces_ahead < received.count()) received.visit(p - pieces_ahead, receive);
        if (p < sent.count()) sent.visit(p, send);
    }
}

// What adds numbers that it reads to x.
template <Scalar T, wire::BitSource R>
void add_numbers(R& source, std::span<T> x) {
    std::array<T, 1024> some;
    for (std::size_t first = 0; first < x.size(); first += some.size()) {
        auto const to = x.subspan(first, std::min(some.size(), x.size() - first));
        auto const read = std::span(some).first(to.size());
        take_numbers(source, read);
        for (std::size_t i = 0; i < to.size(); ++i) to[i] += read[i];
    }
}

}  // namespace laconic::detail
