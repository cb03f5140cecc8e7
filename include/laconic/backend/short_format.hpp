// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "laconic/backend/scales.hpp"

namespace laconic::detail {

// Up to so many bytes are chosen by masks. Compilers take a choice for a branch, in which a sum or a product of floats
// is made or not, and put such a loop into vectors for AVX-512 alone; masks, where there are no vectors, cost more than
// it.
#if defined(__AVX512F__) || !defined(__SSE2__)
inline constexpr int masked_bytes = 0;
#elif defined(__AVX2__)
inline constexpr int masked_bytes = 8;
#else
inline constexpr int masked_bytes = 4;
#endif

/// first ? a : b.
template <class Bits>
constexpr Bits one_of_two(bool first, Bits a, Bits b) {
    if constexpr (sizeof(Bits) > masked_bytes)
        return first ? a : b;
    else {
        auto const mask = static_cast<Bits>(Bits{0} - static_cast<Bits>(first));
        return static_cast<Bits>((a & mask) | (b & ~mask));
    }
}

}  // namespace laconic::detail

namespace laconic::kernels {

/// Number formats of one or two bytes: IEEE 754 binary16; the upper half of a float; and the two of the Open Compute
/// Project's "8-bit floating point specification", 2023.
enum class short_format : std::uint8_t { binary16, bfloat, e4m3, e5m2 };

/// A sign bit above `exponent` bits above `mantissa` bits, read as IEEE 754 does. Codes without their sign ascend with
/// the magnitude. With infinities, the last exponent is for them and for NaN; else the last code alone is NaN, unless
/// all codes are finite. One bit of exponent makes a grid of equal steps: what is below its bit continues what is
/// above.
struct short_layout {
    int exponent, mantissa;
    bool infinities, all_finite = false;

    constexpr int width() const { return 1 + exponent + mantissa; }
    constexpr int bias() const { return (1 << (exponent - 1)) - 1; }
    constexpr std::uint16_t sign() const { return static_cast<std::uint16_t>(1 << (exponent + mantissa)); }
    /// The code of the largest finite number.
    constexpr std::uint16_t largest() const {
        int const others = infinities ? 1 << mantissa : all_finite ? 0 : 1;
        return static_cast<std::uint16_t>(sign() - 1 - others);
    }
    /// The code of a quiet NaN; the largest one where there is none.
    constexpr std::uint16_t nan() const {
        return static_cast<std::uint16_t>(infinities ? sign() - (1 << (mantissa - 1)) : sign() - 1);
    }
    constexpr bool is_finite(std::uint16_t code) const { return (code & (sign() - 1)) <= largest(); }
    constexpr bool operator==(short_layout const&) const = default;
};

struct named_layout {
    char const* name;
    short_layout layout;
};
inline constexpr named_layout short_formats[] = {
    {"fp16", {5, 10, true}}, {"bf16", {8, 7, true}}, {"float8_e4m3", {4, 3, false}}, {"float8_e5m2", {5, 2, true}}};
constexpr short_layout layout_of(short_format f) { return short_formats[static_cast<std::size_t>(f)].layout; }
constexpr char const* name_of(short_format f) { return short_formats[static_cast<std::size_t>(f)].name; }

/// The number that a code means, exactly; NaN for all codes that are not finite.
template <Scalar T>
constexpr T short_value(short_layout f, std::uint16_t code) {
    using bits = detail::bits_of<T>;
    constexpr int mantissa = std::numeric_limits<T>::digits - 1, bias = std::numeric_limits<T>::max_exponent - 1;
    constexpr bits nan = std::bit_cast<bits>(std::numeric_limits<T>::quiet_NaN());
    // The fields in the place of T's mean the number times a power of two, subnormal numbers too.
    auto const magnitude = static_cast<bits>(code & (f.sign() - 1)) << (mantissa - f.mantissa);
    auto const factor = static_cast<bits>(bias + bias - f.bias()) << mantissa;
    auto const size = std::bit_cast<bits>(std::bit_cast<T>(magnitude) * std::bit_cast<T>(factor));
    auto const sign = static_cast<bits>((code & f.sign()) != 0) << (8 * sizeof(T) - 1);
    return std::bit_cast<T>(detail::one_of_two(f.is_finite(code), static_cast<bits>(size ^ sign), nan));
}

}  // namespace laconic::kernels
