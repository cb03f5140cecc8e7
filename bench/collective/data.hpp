// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "laconic/core/key.hpp"

// What the ranks bring. Each number can be found by itself, so that any rank can compute what another has.
namespace laconic::bench {

using vec = std::vector<float>;

/// Laplace's distribution, on a grid on which the sums of up to 64 ranks are exact in any order, in the integers of
/// SwitchML too: so they can be compared to the bit.
inline float number(key from, std::size_t i) {
    auto const word = from.word(i);
    double const magnitude = -std::log((static_cast<double>(word >> 1) + 0.5) * 0x1p-31);
    return static_cast<float>(std::round(magnitude * 8192) / 8192 * ((word & 1) != 0 ? 1 : -1));
}
inline vec numbers(int rank, std::size_t d) {
    auto const from = key{1}.child(static_cast<std::uint64_t>(rank));
    vec x(d);
    for (std::size_t i = 0; i < d; ++i) x[i] = number(from, i);
    return x;
}

/// Whether block b of a rank's is zero, where this share of them is.
inline bool is_zero_block(int rank, double zeros, std::size_t b) {
    return key{2}.child(static_cast<std::uint64_t>(rank)).uniform(b) < zeros;
}
/// Clears these blocks of x.
inline void clear_blocks(int rank, double zeros, std::size_t block, std::span<float> x) {
    for (std::size_t first = 0; first < x.size(); first += block)
        if (is_zero_block(rank, zeros, first / block))
            std::fill_n(x.begin() + static_cast<std::ptrdiff_t>(first), std::min(block, x.size() - first), 0.0f);
}

}  // namespace laconic::bench
