// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "laconic/comm/communicator.hpp"
#include "laconic/wire/number.hpp"
#include "laconic/wire/stream.hpp"

namespace laconic {

namespace detail {

/// The coordinates 0 .. d - 1, d < 2^32, in `parts` >= 1 consecutive parts whose lengths differ by at most one; some
/// are empty where there are more parts than coordinates.
struct partition {
    std::size_t d;
    std::size_t parts;

    /// Where part p starts; p = parts gives d.
    std::size_t first(std::size_t p) const { return static_cast<std::size_t>(std::uint64_t{d} * p / parts); }
    std::size_t length(std::size_t p) const { return first(p + 1) - first(p); }
    /// The numbers of `count` parts from p on.
    template <class T>
    std::span<T> of(std::span<T> x, std::size_t p, std::size_t count = 1) const {
        return x.subspan(first(p), first(p + count) - first(p));
    }
};

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

// Who says pieces and hears others by turns has said at most so many more than it has heard, as long as there is
// something to hear. What a quick rank said to its next partner would take its share of the link through which that one
// still hears its last, who then were late as well.
inline constexpr std::size_t pieces_ahead = 8;

// Calls say(first, length) and hear(first, length) for each piece.
template <Scalar T, class Say, class Hear>
void by_turns(in_pieces<T> said, in_pieces<T> heard, Say say, Hear hear) {
    for (std::size_t p = 0; p < std::max(said.count(), heard.count() + pieces_ahead); ++p) {
        if (p >= pieces_ahead && p - pieces_ahead < heard.count()) heard.visit(p - pieces_ahead, hear);
        if (p < said.count()) said.visit(p, say);
    }
}

// What adds numbers that it reads to x.
template <Scalar T, BitSource R>
void add_numbers(R& source, std::span<T> x) {
    std::array<T, 1024> some;
    for (std::size_t first = 0; first < x.size(); first += some.size()) {
        auto const to = x.subspan(first, std::min(some.size(), x.size() - first));
        auto const read = std::span(some).first(to.size());
        take_numbers(source, read);
        for (std::size_t i = 0; i < to.size(); ++i) to[i] += read[i];
    }
}

}  // namespace detail

}  // namespace laconic
