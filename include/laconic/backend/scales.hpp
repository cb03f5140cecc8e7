// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "laconic/core/view.hpp"

namespace laconic::detail {

/// A number's binary form, as an integer.
template <Scalar T>
using bits_of = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;

/// |x| as an integer with the same order; every NaN is above infinity.
template <Scalar T>
constexpr bits_of<T> magnitude_bits(T x) {
    return std::bit_cast<bits_of<T>>(x) & (~bits_of<T>{0} >> 1);
}
template <Scalar T>
inline constexpr bits_of<T> infinite_bits = magnitude_bits(std::numeric_limits<T>::infinity());

/// The `by`-th number of T above x >= 0, or below it. Where `by` is whether something holds, there is no branch, which
/// nobody could foretell.
template <Scalar T>
constexpr T neighbour(T x, int by) {
    using bits = std::make_signed_t<bits_of<T>>;
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

/// The power of two that takes `largest` into [1/2, 1), so that numbers up to it can be squared and added: exact, and
/// therefore free. No further than 2^104 for float and 2^1000 for double, up or down; 1 for 0.
template <Scalar T>
constexpr T unit_scale(T largest) {
    constexpr int furthest = std::numeric_limits<T>::max_exponent - 24;
    int exponent = 0;
    std::frexp(largest, &exponent);
    return std::ldexp(T(1), std::clamp(-exponent, -furthest, furthest));
}

/// Bins for magnitudes, counted down from that of the largest: each octave [2^e, 2^(e+1)) has 256, as wide as each
/// other. So what is in one bin differs by a factor of 1 + 2^-8 at most, and what is below them all is at most 2^-48
/// times (1 + 2^-8) of the largest.
class magnitude_bins {
  public:
    static constexpr int width = 8;  ///< how many bits of the mantissa they distinguish
    static constexpr std::size_t per_octave = std::size_t{1} << width, count = 48 * per_octave;

    magnitude_bins() = default;
    /// For a vector whose largest magnitude that is: finite and above 0.
    explicit magnitude_bins(double largest) {
        int exponent = 0;
        top_ = static_cast<int>(std::ldexp(std::frexp(largest, &exponent), width + 1)) & mask;
    }

    /// The product of its bounds, where the largest is in [1, 2): it stands for the squares in a bin, none of which
    /// differs from it by more than a factor of 1 + 2^-8, up or down.
    double square(std::size_t bin) const {
        int const place = top_ - static_cast<int>(bin), low = static_cast<int>(per_octave) + (place & mask);
        return std::ldexp(low * (low + 1), 2 * ((place >> width) - width));
    }

  private:
    static constexpr int mask = static_cast<int>(per_octave) - 1;
    int top_ = 0;  // the place of the largest in its octave
};

}  // namespace laconic::kernels
