// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "laconic/core/view.hpp"

namespace laconic::detail {

/// The `by`-th number of T above x >= 0, or below it. Where `by` is whether something holds, there is no branch, which
/// nobody could foretell.
template <Scalar T>
constexpr T neighbour(T x, int by) {
    using bits = std::conditional_t<sizeof(T) == 4, std::int32_t, std::int64_t>;
    return std::bit_cast<T>(static_cast<bits>(std::bit_cast<bits>(x) + by));
}

}  // namespace laconic::detail

namespace laconic::kernels {

/// The least step of a grid {0, .., levels} x step that covers [0, scale]: scale / levels, rounded up where it must be.
template <Scalar T>
constexpr T grid_step(T scale, int levels) {
    T const step = scale / T(levels);
    return detail::neighbour(step, step * T(levels) < scale ? 1 : 0);
}

/// The step of a grid {0, .., levels} x step that ends at `range` up to rounding, with range / step >= levels, so that
/// the end of the range always gets the last level. Subnormal steps are too coarse for that: there the grid covers the
/// range, as that of grid_step. 0 for a range of 0.
template <Scalar T>
constexpr T closing_step(T range, int levels) {
    T const step = range / T(levels);
    if (step < std::numeric_limits<T>::min()) return grid_step(range, levels);
    return detail::neighbour(step, range / step < T(levels) ? -1 : 0);
}

}  // namespace laconic::kernels
