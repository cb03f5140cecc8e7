// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

#include "laconic/core/contract.hpp"

namespace laconic::detail {

/// n, at least 0 and within memory, as a number of elements. (Where n is of type std::size_t on some processors alone,
/// a cast would be one that g++ calls useless there.)
constexpr std::size_t as_size(std::integral auto n) { return static_cast<std::size_t>(n); }

/// How many pieces of `length` >= 1 n things make; the last may be shorter.
template <std::unsigned_integral N>
constexpr N pieces_in(N n, std::type_identity_t<N> length) {
    return n / length + (n % length != 0);
}
/// Whether n things make so many pieces; no number of them where a piece has none.
constexpr bool make_pieces(std::size_t pieces, std::size_t n, std::size_t length) {
    return length > 0 && pieces == pieces_in(n, length);
}

/// Cuts the coordinates 0 .. d - 1, d < 2^32, into `parts` >= 1 consecutive parts whose lengths differ by at most one;
/// some are empty where there are more parts than coordinates. With a unit, which divides d, all that is said of
/// coordinates is so of runs of so many.
struct partition {
    std::size_t d;
    std::size_t parts;
    std::size_t unit = 1;

    /// The first coordinate of part p; first(parts) is d.
    std::size_t first(std::size_t p) const { return as_size(std::uint64_t{d / unit} * p / parts) * unit; }
    std::size_t length(std::size_t p) const { return first(p + 1) - first(p); }
    /// The part of x that holds parts p .. p + count - 1.
    template <class T>
    std::span<T> of(std::span<T> x, std::size_t p, std::size_t count = 1) const {
        return x.subspan(first(p), first(p + count) - first(p));
    }
};

}  // namespace laconic::detail
