// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <type_traits>

#include "laconic/core/view.hpp"
#include "laconic/wire/byte_order.hpp"

namespace laconic::detail {

/// The exponent of a block of zeros: below all others.
inline constexpr std::int16_t no_exponent = std::numeric_limits<std::int16_t>::min();

/// The least e with |x_i| < 2^e for all of a block of finite numbers; no_exponent where all are zero.
template <Scalar T>
std::int16_t exponent_of(std::span<T const> x) {
    // Magnitudes have the order of their bits, and integers are compared faster, also for subnormal numbers.
    using bits = std::conditional_t<sizeof(T) == 4, std::int32_t, std::int64_t>;
    bits largest = 0;
    for (T const v : x) largest = std::max(largest, std::bit_cast<bits>(v) & std::numeric_limits<bits>::max());
    if (largest == 0) return no_exponent;
    int e = 0;
    std::frexp(std::bit_cast<T>(largest), &e);
    return static_cast<std::int16_t>(e);
}

/// The numbers of a block as integers that a switch can add (SwitchML, Sapio et al., NSDI 2021): multiples of a unit,
/// 2^(e - bits), where 2^e is above every magnitude of the block on any of P workers, and bits = 31 - bit_width(P).
/// Rounded to the nearest, ties to even; units are powers of two, so that nothing else is rounded.
///
/// P summands never overflow: |x| < 2^e is rounded to at most 2^bits, and P 2^bits < 2^bit_width(P) 2^bits = 2^31. The
/// error of a sum is at most P / 2 units, P 2^bit_width(P) 2^(e - 32) <= P^2 2^(e - 31), plus its own rounding to T.
class fixed_point {
  public:
    /// The most workers, with which a number still has 15 bits and a sign.
    static constexpr int most_workers = 65535;

    fixed_point(int workers, std::int16_t exponent)
        : shift_(exponent == no_exponent ? 0 : bits(workers) - exponent), zeros_(exponent == no_exponent) {}

    static int bits(int workers) { return 31 - static_cast<int>(std::bit_width(static_cast<unsigned>(workers))); }

    /// Writes the integers of x, 4 bytes each, lowest byte first.
    template <Scalar T>
    void put(std::span<T const> x, std::byte* to) const {
        // In two factors: the smallest and largest double are further apart than one factor can bridge.
        double const first = factor(shift_ / 2), second = factor(shift_ - shift_ / 2);
        for (std::size_t i = 0; i < x.size(); ++i) {
            // A double of this size has no bits for a fraction: the addition rounds, and leaves the integer in the low
            // bits.
            double const rounded = double(x[i]) * first * second + 0x1.8p52;
            store_half(to + 4 * i, static_cast<std::uint32_t>(std::bit_cast<std::uint64_t>(rounded)));
        }
    }
    /// x <- the sums that such integers represent; infinite where one, as rounded, is beyond T. Returns whether all are
    /// finite.
    template <Scalar T>
    bool take(std::byte const* from, std::span<T> x) const {
        double const first = factor(-shift_ / 2), second = factor(-shift_ - -shift_ / 2);
        bool finite = true;
        for (std::size_t i = 0; i < x.size(); ++i) {
            x[i] = static_cast<T>(double(std::bit_cast<std::int32_t>(load_half(from + 4 * i))) * first * second);
            finite &= std::abs(x[i]) <= std::numeric_limits<T>::max();
        }
        return finite;
    }

  private:
    double factor(int power) const { return zeros_ ? 0 : std::ldexp(1.0, power); }

    int shift_;
    bool zeros_;
};

}  // namespace laconic::detail
