// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstdint>
#include <limits>

#include "laconic/core/error.hpp"
#include "laconic/core/text.hpp"

namespace laconic {

/// A coordinate of a vector in memory. Vectors hold fewer than 2^32 numbers.
using coordinate = std::uint32_t;

namespace detail {

/// The most coordinates of a vector in memory: 2^32 - 1.
inline constexpr std::uint64_t largest_dimension = std::numeric_limits<coordinate>::max();

/// The least number of bits that distinguish n values.
constexpr unsigned width_of(std::uint64_t n) { return n < 2 ? 0u : static_cast<unsigned>(std::bit_width(n - 1)); }

}  // namespace detail

/// Throws argument_error for a length that vectors in memory may not have.
inline void check_dimension(std::uint64_t d) {
    if (d > detail::largest_dimension)
        throw argument_error(detail::concat({"more than 2^32 - 1 dimensions: ", d,
                                             "; split the vector, so that each part has at most 2^32 - 1 numbers"}));
}

/// One summand v e_i of a vector written as a sum of scaled basis vectors.
template <class T>
struct term {
    coordinate at;
    T value;
};

}  // namespace laconic
