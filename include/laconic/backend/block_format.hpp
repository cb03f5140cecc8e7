// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string_view>

#include "laconic/backend/scales.hpp"
#include "laconic/backend/short_format.hpp"

namespace laconic::kernels {

/// What a block of numbers has as its scale: a power of two from 2^-127 to 2^127, in eight bits (E8M0); a normal number
/// of e4m3, times a number that all blocks share; any number.
enum class scale_format : std::uint8_t { power_of_two, e4m3, number };

/// Numbers in blocks of consecutive ones: each is a short number times the scale of its block.
struct block_layout {
    short_layout element;
    scale_format scale;
    std::size_t block;  ///< how many numbers share a scale; 0 for all of them
};

/// Formats of blocks: of the Open Compute Project's "Microscaling formats (MX) specification" 1.0, 2023; NVIDIA's
/// NVFP4; and short numbers or integers, which are multiples of a step, over a scale in full.
enum class block_format : std::uint8_t {
    mxfp8_e4m3,
    mxfp8_e5m2,
    mxfp6_e3m2,
    mxfp6_e2m3,
    mxfp4,
    nvfp4,
    float8_e4m3,
    float8_e5m2,
    int8,
    int4
};
inline constexpr std::array<std::string_view, 10> block_names{"mxfp8_e4m3", "mxfp8_e5m2", "mxfp6_e3m2",  "mxfp6_e2m3",
                                                              "mxfp4",      "nvfp4",      "float8_e4m3", "float8_e5m2",
                                                              "int8",       "int4"};
constexpr auto const& words_of(block_format) { return block_names; }
constexpr block_layout layout_of(block_format f) {
    constexpr short_layout e4m3{4, 3, false}, e5m2{5, 2, true}, e2m1{2, 1, false, true};
    constexpr block_layout all[] = {
        {e4m3, scale_format::power_of_two, 32},
        {e5m2, scale_format::power_of_two, 32},
        {{3, 2, false, true}, scale_format::power_of_two, 32},
        {{2, 3, false, true}, scale_format::power_of_two, 32},
        {e2m1, scale_format::power_of_two, 32},
        {e2m1, scale_format::e4m3, 16},
        {e4m3, scale_format::number, 0},
        {e5m2, scale_format::number, 0},
        {{1, 6, false, true}, scale_format::number, 0},
        {{1, 2, false, true}, scale_format::number, 0},
    };
    return all[static_cast<std::size_t>(f)];
}

/// The largest number of a short format.
template <Scalar T>
constexpr T largest_value(short_layout f) {
    return short_value<T>(f, f.largest());
}

/// What the scales of e4m3 are multiplied by, for a vector with such a largest magnitude: that over the largest scale
/// times the largest element. At least the least normal number of T.
template <Scalar T>
constexpr T tensor_scale(T largest, short_layout element) {
    T const most = T(448) * largest_value<T>(element), least = std::numeric_limits<T>::min();
    return largest / most < least ? least : largest / most;
}

/// The scale of a block with such a largest magnitude. A power of two: that of the magnitude over that of the largest
/// element, which cuts off what is above that element; up: the least that cuts off nothing. One of e4m3, a multiple of
/// `shared`: the magnitude over the largest element, rounded to the nearest, or up, and from 2^-6 to 448. A number: the
/// same in full, so that nothing is cut off. Infinite where no scale is large enough, or the magnitude is not finite.
template <Scalar T>
constexpr T block_scale(T largest, block_layout f, bool up, T shared) {
    using bits = detail::bits_of<T>;
    constexpr int mantissa = std::numeric_limits<T>::digits - 1, bias = std::numeric_limits<T>::max_exponent - 1;
    constexpr bits fraction = (bits{1} << mantissa) - 1;
    T const top = largest_value<T>(f.element);
    auto const most = std::bit_cast<bits>(top), size = std::bit_cast<bits>(largest);
    if (size >= detail::infinite_bits<T>) return std::numeric_limits<T>::infinity();
    if (f.scale == scale_format::power_of_two) {
        auto const over = static_cast<int>(size >> mantissa) - static_cast<int>(most >> mantissa);
        int const power = over + (up && (size & fraction) > (most & fraction) ? 1 : 0);
        if (power > 127) return std::numeric_limits<T>::infinity();
        int const field = power < -127 ? bias - 127 : bias + power;
        return std::bit_cast<T>(field > 0 ? static_cast<bits>(field) << mantissa : bits{1} << (mantissa - 1));
    }
    if (f.scale == scale_format::e4m3) {
        constexpr int cut = mantissa - 3;
        constexpr bits below = (bits{1} << cut) - 1;
        T const wanted = largest / top / shared, limited = wanted < T(0x1p-6) ? T(0x1p-6) : wanted > 448 ? 448 : wanted;
        auto const exact = std::bit_cast<bits>(limited);
        bits const added = up ? below : below / 2 + (exact >> cut & 1);
        return std::bit_cast<T>((exact + added) & ~below);
    }
    T const step = largest / top;
    return detail::neighbour(step, step * top < largest ? 1 : 0);
}

/// A scale as its eight bits: of a power of two its exponent + 127, of a normal number of e4m3 its code.
template <Scalar T>
constexpr std::uint8_t code_of_scale(scale_format f, T scale) {
    constexpr int mantissa = std::numeric_limits<T>::digits - 1, bias = std::numeric_limits<T>::max_exponent - 1;
    bool const is_power = f == scale_format::power_of_two;
    int const digits = is_power ? 0 : 3, field = bias - (is_power ? 127 : 7);
    auto const code = static_cast<std::int64_t>(std::bit_cast<detail::bits_of<T>>(scale) >> (mantissa - digits));
    return static_cast<std::uint8_t>(code - (std::int64_t{field} << digits));
}
/// The scale that eight bits mean; NaN where they mean none: 255 of a power of two; of e4m3 a sign, NaN or a number
/// below 2^-6.
template <Scalar T>
constexpr T scale_of_code(scale_format f, unsigned code) {
    constexpr short_layout e4m3{4, 3, false};
    if (f == scale_format::e4m3 && code >= 8 && code <= e4m3.largest())
        return short_value<T>(e4m3, static_cast<std::uint16_t>(code));
    if (f != scale_format::power_of_two || code > 254) return std::numeric_limits<T>::quiet_NaN();
    using bits = detail::bits_of<T>;
    constexpr int mantissa = std::numeric_limits<T>::digits - 1, bias = std::numeric_limits<T>::max_exponent - 1;
    int const field = static_cast<int>(code) + bias - 127;
    return std::bit_cast<T>(field > 0 ? static_cast<bits>(field) << mantissa : bits{1} << (mantissa - 1));
}

}  // namespace laconic::kernels
