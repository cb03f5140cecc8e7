// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "laconic/backend/host/impl/instruction_sets.hpp"
#include "laconic/backend/scales.hpp"
#include "laconic/backend/short_format.hpp"

/// What all forms of rounding many values at a time have in common.
namespace laconic::kernels {

/// How many values are rounded together: a number that the compiler knows, so that it makes vectors of plain loops.
inline constexpr std::size_t rounded_together = 64;

}  // namespace laconic::kernels

namespace laconic::detail {

// goes_up() by 16 bits of both.
constexpr bool goes_up(std::uint16_t fraction, std::uint16_t window) {
    return static_cast<std::uint16_t>(fraction + window) < window;
}
// .. where these do not decide, as what they lack may carry into them.
constexpr bool is_open(std::uint16_t fraction, std::uint16_t window) {
    return static_cast<std::uint16_t>(fraction + window) == 0xffff;
}

// The bits of a word for all that are rounded together, or for none.
constexpr std::uint64_t all_bits_if(bool any) { return any ? ~std::uint64_t{0} : 0; }

/// x times per_cut in place of x / step x 2^16, as a product takes a sixth of a quotient's time. Where |x| is at most
/// levels x step, for up to 255 levels, the product plus `ahead`, however it is rounded, is less than 2.5 from the
/// quotient plus `ahead`: cut to a whole number, it is 1 to `furthest` above the quotient rounded down.
template <Scalar T>
struct near_quotient {
    static constexpr T ahead = T(3.5);
    static constexpr int furthest = 7;  ///< All lower bits, so that what is beyond it has a higher one.

    T per_cut;
    bool is_exact;  ///< Whether there are so few levels, and per_cut is as exact as any number.

    near_quotient(T step, int levels)
        : per_cut(T(0x1p16) / step), is_exact(levels <= 255 && per_cut > T(0x1p-100) && per_cut < T(0x1p100)) {}
};

/// Codes of rounded_together floats on a grid that begins at `least`, by products: what the loops of round_to_levels
/// do, and of round_to_range, whose codes have no sign. x86 has forms of it, from AVX2 on.
template <class A, class Code>
std::uint64_t round_to_grid(instruction_set::generic, float const* v, float least, int most, near_quotient<float> q,
                            std::uint16_t const* windows, Code* out) = delete;

/// Codes of rounded_together floats in a format of 16 bits whose largest number is `largest`: what round_to_short does
/// to the nearest. Returns whether all were finite; if not, the codes are of no use. x86 has a form of it, with F16C.
template <class A>
bool round_to_16_bits(instruction_set::generic, float const* v, kernels::short_layout f, float largest,
                      std::uint16_t* out) = delete;

/// The exponent field of the largest finite numbers.
template <Scalar T>
inline constexpr std::uint32_t largest_exponent = 2 * std::numeric_limits<T>::max_exponent - 2;

/// Codes of rounded_together values: what round_to_powers does.
template <class A, Scalar T>
[[gnu::always_inline]] inline std::uint64_t round_to_powers_together(instruction_set::generic, T const* v,
                                                                     std::uint16_t const* windows, std::uint16_t* out) {
    constexpr int mantissa = std::numeric_limits<T>::digits - 1;
    constexpr std::uint32_t exponents = largest_exponent<T> + 1;
    std::array<std::uint16_t, kernels::rounded_together> below, cut;
    for (std::size_t j = 0; j < kernels::rounded_together; ++j) {
        auto const b = std::bit_cast<bits_of<T>>(v[j]);
        below[j] = static_cast<std::uint16_t>(b >> mantissa);
        cut[j] = static_cast<std::uint16_t>(b >> (mantissa - 16));
    }
    std::uint16_t open = 0;
    for (std::size_t j = 0; j < kernels::rounded_together; ++j) {
        bool const up = goes_up(cut[j], windows[j]) && (below[j] & exponents) < largest_exponent<T>;
        open |= is_open(cut[j], windows[j]);
        below[j] = static_cast<std::uint16_t>(below[j] + up);
    }
    std::copy(below.begin(), below.end(), out);
    return all_bits_if(open != 0);
}

}  // namespace laconic::detail
