// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>

#include "laconic/core/error.hpp"

/// Coordinates: their numbers, how many there are, and which share of them.
namespace laconic {

/// A coordinate of a vector in memory. Vectors hold fewer than 2^32 numbers.
using coordinate = std::uint32_t;

namespace detail {

/// The most coordinates of a vector in memory: 2^32 - 1.
inline constexpr std::uint64_t largest_dimension = std::numeric_limits<coordinate>::max();

/// The least number of bits that distinguish n values.
constexpr unsigned width_of(std::uint64_t n) { return n < 2 ? 0u : static_cast<unsigned>(std::bit_width(n - 1)); }

}  // namespace detail

/// A number of coordinates out of d: a count, or, below 1, a fraction of d. top_k{100} keeps 100, top_k{0.01} one in a
/// hundred.
struct portion {
    double value = 1;

    constexpr portion() = default;
    template <class N>
    requires(std::integral<N> || std::floating_point<N>) constexpr portion(N n)
        : value(static_cast<double>(n)) {}  // NOLINT: implicit, so that top_k{3} reads as it should

    /// The count for a vector of d numbers: a fraction is rounded to the nearest count, but never to 0 (unless d is 0);
    /// a count is at most d, so that a pipe may keep 100 of what an earlier piece has left.
    std::size_t of(std::size_t d) const {
        if (value >= 1) return value < static_cast<double>(d) ? static_cast<std::size_t>(value) : d;
        if (!(value > 0)) return 0;
        return std::min(
            d, std::max(std::size_t{1}, static_cast<std::size_t>(std::lround(value * static_cast<double>(d)))));
    }

    /// Throws argument_error where the value is negative, NaN, above 1 and no integer, or more than d.
    void check(std::size_t d) const {
        if (!(value >= 0) || (value >= 1 && value != std::floor(value)))
            throw argument_error({"k = ", to_string(*this), " is neither a count nor a fraction below 1"});
        if (value >= 1 && value > static_cast<double>(d))
            throw argument_error({"k = ", to_string(*this), " is above the dimension d = ", d,
                                  "; a fraction, such as 0.1, suits every length"});
    }

    bool operator==(portion const&) const = default;
    friend std::string to_string(portion p) { return detail::shortest(p.value); }
};

}  // namespace laconic

namespace laconic::messages {

/// Throws argument_error for a length that vectors in memory may not have.
inline void check_dimension(std::uint64_t d) {
    if (d > detail::largest_dimension)
        throw argument_error({"more than 2^32 - 1 dimensions: ", d,
                              "; split the vector, so that each part has at most 2^32 - 1 numbers"});
}

}  // namespace laconic::messages
