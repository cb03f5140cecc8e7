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
#include <vector>

#include "laconic/backend/host/memory.hpp"
#include "laconic/core/contract.hpp"
#include "laconic/core/key.hpp"
#include "laconic/core/view.hpp"

/// Values to short codes. Element i of a call draws words of the key numbered from `first`, so a vector may be rounded
/// in pieces and gives the same codes.
namespace laconic {

/// Unbiased rounding to the grid step x {-levels, .., levels}: codes_i is |x_i| / step rounded down, or up with
/// probability equal to the fraction cut off (off by at most 2^-32), with the sign of x_i. |x_i| <= levels x step.
template <class A, Scalar T>
void round_to_levels(basic_host<A>&, std::span<T const> x, T step, int levels, key from, std::uint64_t first,
                     std::span<std::int16_t> codes) {
    LACONIC_EXPECTS(codes.size() == x.size() && step > 0 && levels >= 1 && levels <= 32767);
    for (std::size_t i = 0; i < x.size(); ++i) {
        // A quotient, not a product with 1 / step: a product and the difference after it could be fused.
        T const on_grid = std::abs(x[i]) / step;
        T const below = std::floor(on_grid);
        bool const up = double(from.word(first + i)) < double(on_grid - below) * 0x1p32;
        int const level = below < T(levels) ? static_cast<int>(below) + int{up} : levels;
        codes[i] = static_cast<std::int16_t>(x[i] < 0 ? -level : level);
    }
}

namespace detail {

template <Scalar T>
struct bits_of;
template <>
struct bits_of<float> {
    using type = std::uint32_t;
    static constexpr int mantissa = 23;
    static constexpr std::uint32_t largest_exponent = 254;
};
template <>
struct bits_of<double> {
    using type = std::uint64_t;
    static constexpr int mantissa = 52;
    static constexpr std::uint32_t largest_exponent = 2046;
};

}  // namespace detail

/// Unbiased rounding to a power of two (natural compression, Horvath et al., MSML 2022): |x| = (1 + m) 2^e becomes
/// 2^(e+1) with probability m, else 2^e. A code is the sign bit above the exponent field of x's own format: 9 bits for
/// float, 12 for double. Below the smallest normal number x becomes that number or 0, still unbiased; above the largest
/// power of two it is rounded down. Every x_i must be finite.
template <class A, Scalar T>
void round_to_powers(basic_host<A>&, std::span<T const> x, key from, std::uint64_t first,
                     std::span<std::uint16_t> codes) {
    LACONIC_EXPECTS(codes.size() == x.size());
    using format = detail::bits_of<T>;
    using bits = typename format::type;
    constexpr int exponent_width = int{sizeof(T) * 8} - 1 - format::mantissa;
    for (std::size_t i = 0; i < x.size(); ++i) {
        auto const b = std::bit_cast<bits>(x[i]);
        auto const fraction = static_cast<std::uint64_t>(b & ((bits{1} << format::mantissa) - 1))
                              << (64 - format::mantissa);
        auto exponent = static_cast<std::uint32_t>(b >> format::mantissa) & ((1u << exponent_width) - 1);
        bool const up = from.word(first + i) < static_cast<std::uint32_t>(fraction >> 32);
        if (up && exponent < format::largest_exponent) ++exponent;
        codes[i] = static_cast<std::uint16_t>(static_cast<std::uint32_t>(b >> (sizeof(T) * 8 - 1)) << exponent_width |
                                              exponent);
    }
}

/// Unbiased rounding to the levels 0 and top x 2^(j - levels), j = 1 .. levels (natural dithering; Horvath et al., MSML
/// 2022): |x_i| becomes one of its two neighbours, the upper one with probability equal to the fraction of the way to
/// it (off by at most 2^-32); codes_i is the j of that level, 0 for 0, with the sign of x_i. Levels below the smallest
/// normal number of T are left out, but for `top` itself, so that all that are used are exact. |x_i| <= top, which is
/// finite.
template <class A, Scalar T>
void round_to_halvings(basic_host<A>&, std::span<T const> x, T top, int levels, key from, std::uint64_t first,
                       std::span<std::int16_t> codes) {
    LACONIC_EXPECTS(codes.size() == x.size() && top >= 0 && levels >= 1 && levels <= 32767);
    constexpr int mantissa = detail::bits_of<T>::mantissa;
    using bits = std::make_signed_t<typename detail::bits_of<T>::type>;
    auto const top_bits = std::bit_cast<bits>(top);
    // Normal numbers are halved, exactly, in their exponent field.
    auto const halved = [&](int times) { return std::bit_cast<T>(top_bits - (static_cast<bits>(times) << mantissa)); };
    int const most = std::clamp(static_cast<int>(top_bits >> mantissa) - 1, 0, levels - 1);
    T const least = halved(most);
    for (std::size_t i = 0; i < x.size(); ++i) {
        T const size = std::abs(x[i]);
        int below = 0, above = levels - most;
        T fraction = size / least;
        if (size >= least) {
            // As integers, positive numbers lie linear between powers of two: this is log2(top / size), rounded up.
            int const times = -static_cast<int>((std::bit_cast<bits>(size) - top_bits) >> mantissa);
            below = levels - times;
            above = below + 1;
            fraction = (size - halved(times)) / halved(times);
        }
        bool const up = double(from.word(first + i)) < double(fraction) * 0x1p32;
        int const level = size > 0 ? (up ? above : below) : 0;
        codes[i] = static_cast<std::int16_t>(x[i] < 0 ? -level : level);
    }
}

/// Bit j mod 64 of words_{j / 64} is set iff x_j < 0; the bits past the end are clear. words has ceil(x.size() / 64)
/// elements.
template <class A, Scalar T>
void pack_signs(basic_host<A>&, std::span<T const> x, std::span<std::uint64_t> words) {
    LACONIC_EXPECTS(words.size() == (x.size() + 63) / 64);
    for (std::size_t w = 0; w < words.size(); ++w) {
        auto const part = x.subspan(64 * w, std::min<std::size_t>(64, x.size() - 64 * w));
        std::uint64_t word = 0;
        for (std::size_t j = 0; j < part.size(); ++j) word |= std::uint64_t{part[j] < 0} << j;
        words[w] = word;
    }
}

}  // namespace laconic
