// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <span>
#include <string_view>

#include "laconic/backend/scales.hpp"
#include "laconic/core/contract.hpp"
#include "laconic/core/view.hpp"

namespace laconic {

/// Which norm of a bucket its grid spans.
enum class p_norm { one, two, largest };
constexpr std::array<std::string_view, 3> words_of(p_norm) { return {"1", "2", "inf"}; }

}  // namespace laconic

namespace laconic::detail {

/// Whether a sum of squares in floats can be relied on: none of them has overflown, and what has underflown is nothing
/// beside the largest.
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

}  // namespace laconic::detail

namespace laconic::kernels {

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

}  // namespace laconic::kernels
