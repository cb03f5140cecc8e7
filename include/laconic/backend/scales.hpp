// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <limits>
#include <span>
#include <type_traits>

#include "laconic/backend/arguments.hpp"

namespace laconic::detail {

/// |x| as an integer with the same order; every NaN is above infinity.
template <Scalar T>
constexpr bits_of<T> magnitude_bits(T x) {
    return std::bit_cast<bits_of<T>>(x) & (~bits_of<T>{0} >> 1);
}
template <Scalar T>
inline constexpr bits_of<T> infinite_bits = magnitude_bits(std::numeric_limits<T>::infinity());

/// The `by`-th number of T above x >= 0, or below it; without a branch where `by` is whether something holds.
template <Scalar T>
constexpr T neighbour(T x, int by) {
    using bits = std::make_signed_t<bits_of<T>>;
    return std::bit_cast<T>(static_cast<bits>(std::bit_cast<bits>(x) + by));
}

/// Whether a sum of squares in floats can be relied on: none has overflown, and what has underflown counts for nothing.
constexpr bool floats_hold(double squares) { return squares > 0x1p-80 && squares < 0x1p120; }

/// Calls f(b, first, part) with each bucket of `bucket` >= 1 consecutive values, of which the last may be shorter: its
/// number, its first coordinate and its values.
template <class T, class F>
void each_bucket(std::span<T const> x, std::size_t bucket, F f) {
    LACONIC_EXPECTS(bucket >= 1);
    for (std::size_t b = 0, first = 0; first < x.size(); ++b) {
        auto const part = x.subspan(first, std::min(bucket, x.size() - first));
        f(b, first, part);
        first += part.size();
    }
}
/// f(b, first, part) of each bucket in turn, until one is false; whether all were true.
template <class T, class F>
bool each_bucket_is(std::span<T const> x, std::size_t bucket, F f) {
    bool all = true;
    each_bucket(x, bucket,
                [&](std::size_t b, std::size_t first, std::span<T const> part) { all = all && f(b, first, part); });
    return all;
}

/// How many numbers k of each chunk of n are, where a last chunk of fewer gives all that it has.
constexpr std::size_t numbers_of_each(std::size_t n, std::size_t chunk, std::size_t k) {
    return n / chunk * k + std::min(k, n % chunk);
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

/// |x|_p, at least the largest magnitude; not finite where it is beyond T or a number of x is not finite. Squares may
/// leave the range of T. A 2-norm of floats is off by at most 2^-17 of itself. One pass; two for a 2-norm of doubles,
/// of zeros, or of floats whose squares leave their range.
template <class B, Scalar T>
T norm_of(B& on, p_norm p, std::span<T const> x) {
    if (p == p_norm::one) return static_cast<T>(sum_of_magnitudes(on, x));
    // The root of a rounded square is the number that it came from, and no rounding takes their sum's below the
    // largest. Floats' squares are never out of a double's range.
    if constexpr (sizeof(T) == 4)
        if (p == p_norm::two) {
            double const squares = sum_of_squares_in_floats(on, x);
            if (detail::floats_hold(squares)) return std::sqrt(static_cast<T>(squares));
            return static_cast<T>(std::sqrt(sum_of_squares(on, x)));
        }
    T const largest = largest_magnitude(on, x);
    if (p == p_norm::largest || !std::isfinite(largest)) return largest;
    double const squares = sum_of_squares(on, x);
    if constexpr (sizeof(T) == 8)
        if (largest > 0 && !(squares > 1e-280 && squares < 1e300))
            return largest * std::sqrt(sum_of_squares(on, x, largest));
    return std::max(largest, static_cast<T>(std::sqrt(squares)));
}

/// sum (x_i / unit)^2, which is in range where unit > 0 is about as large as the largest magnitude.
template <class B, Scalar T>
double squares_in_units(B& on, std::span<T const> x, T unit) {
    if constexpr (sizeof(T) == 8)
        return sum_of_squares(on, x, unit);
    else
        return sum_of_squares(on, x) / (static_cast<double>(unit) * static_cast<double>(unit));
}

/// The standard deviation of x: of what its numbers are away from their mean, the root of the mean square; 0 where x is
/// empty, not finite where a number of x is not. Neither squares that leave a double's range nor a mean that is large
/// beside the deviation cost accuracy. Four passes.
template <class B, Scalar T>
double deviation_of(B& on, std::span<T const> x) {
    if (x.empty()) return 0;
    auto const largest = static_cast<double>(largest_magnitude(on, x));
    if (!std::isfinite(largest)) return largest;
    double const unit = 1 / unit_scale(largest), d = static_cast<double>(x.size());  // a power of two divides exactly
    double const about = sum_of_numbers(on, x, unit, 0) / d;
    double const rounded = sum_of_numbers(on, x, unit, about) / d, mean = about + rounded;
    // Where the numbers themselves are as rough as the deviation is small, even the mean's last rounding counts.
    double const rest = rounded - (mean - about);
    return unit * std::sqrt(std::max(0.0, std::fma(-rest, rest, sum_of_squares(on, x, unit, mean) / d)));
}

/// x <- min(1, limit / |x|_2) x, where all of x is finite; else x stays. The norm may have any size: its squares do not
/// leave their range. Two passes, and one more where x is longer than limit > 0.
template <class B, Scalar T>
void cut_norm(B& on, double limit, std::span<T> x) {
    T const largest = largest_magnitude(on, std::span<T const>(x));
    if (!std::isfinite(largest)) return;
    // |x| is size / scale, which need not be in the range of T.
    T const scale = unit_scale(largest);
    double const size = std::sqrt(sum_of_squares(on, std::span<T const>(x), 1 / static_cast<double>(scale)));
    double const limit_there = limit * static_cast<double>(scale), factor = limit_there / size;
    if (!(size > limit_there)) return;
    if (factor >= static_cast<double>(std::numeric_limits<T>::min()))
        multiply(on, static_cast<T>(factor), x);
    else {  // T has no such number, or only with few digits
        multiply(on, scale, x);
        multiply(on, static_cast<T>(limit / size), x);
    }
}

}  // namespace laconic::kernels
