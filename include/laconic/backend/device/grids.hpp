// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "laconic/backend/device/passes.hpp"
#include "laconic/backend/device/round.hpp"
#include "laconic/backend/rounding.hpp"
#include "laconic/core/view.hpp"

/// The grids of buckets, as round_at_random() takes them: which two codes a number may become, and how far it is on
/// the way from the lower to the upper one.
namespace laconic::detail::on_device {

template <Scalar T, kernels::LevelCode Code>
struct to_levels {
    using code_type = Code;
    T const* steps;
    int levels;
    LACONIC_HOST_DEVICE neighbours_of_value operator()(T v, std::size_t b) const {
        if (!(steps[b] > 0)) return {0, 0, 0};
        T const on_grid = v / steps[b], end = static_cast<T>(levels);
        // A number for NaN, too, which has no integer: where a norm is infinite, all codes are of no use.
        double const inside = on_grid > end ? end : on_grid > -end ? on_grid : -end, whole = std::floor(inside);
        int const below = static_cast<int>(whole);
        return {(inside - whole) * 0x1p32, below, below + 1};
    }
    LACONIC_HOST_DEVICE Code code(T, int level) const { return static_cast<Code>(level); }
};

template <Scalar T>
struct to_halvings {
    using code_type = std::int16_t;
    static constexpr int mantissa = std::numeric_limits<T>::digits - 1;
    T const* tops;
    int levels;
    // As integers, positive numbers lie linear between powers of two, and normal ones are halved in their exponent.
    LACONIC_HOST_DEVICE neighbours_of_value operator()(T v, std::size_t b) const {
        auto const top = magnitude_bits(tops[b]), size = magnitude_bits(v);
        if (top == 0 || size >= infinite_bits<T>) return {0, 0, 0};
        int const octave = static_cast<int>(top >> mantissa) - 1;  // that of the least normal number is 0
        int const halvings = octave < 0 ? 0 : octave < levels - 1 ? octave : levels - 1;
        auto const least = static_cast<bits_of<T>>(top - (static_cast<bits_of<T>>(halvings) << mantissa));
        if (size < least)
            return {static_cast<double>(std::bit_cast<T>(size) / std::bit_cast<T>(least)) * 0x1p32, 0,
                    levels - halvings};
        // log2(top / size), rounded up.
        auto const times = (top - size + ((bits_of<T>{1} << mantissa) - 1)) >> mantissa;
        T const low = std::bit_cast<T>(static_cast<bits_of<T>>(top - (times << mantissa)));
        int const below = levels - static_cast<int>(times);
        return {static_cast<double>((std::bit_cast<T>(size) - low) / low) * 0x1p32, below, below + 1};
    }
    LACONIC_HOST_DEVICE std::int16_t code(T v, int level) const {
        return static_cast<std::int16_t>(v < 0 ? -level : level);
    }
};

template <Scalar T>
struct to_range {
    using code_type = std::uint8_t;
    T const *least, *steps;
    int most;
    LACONIC_HOST_DEVICE neighbours_of_value operator()(T v, std::size_t b) const {
        if (!(steps[b] > 0)) return {0, 0, 0};
        T const on_grid = (v - least[b]) / steps[b], whole = std::floor(on_grid);
        if (!(whole < T(most))) return {0, most, most};
        int const below = static_cast<int>(whole);
        return {static_cast<double>(on_grid - whole) * 0x1p32, below, below + 1};
    }
    LACONIC_HOST_DEVICE std::uint8_t code(T, int level) const { return static_cast<std::uint8_t>(level); }
};
template <Scalar T>
struct to_nearest_in_range {
    T const* x;
    to_range<T> grid;
    std::size_t bucket;
    std::uint8_t* codes;
    LACONIC_HOST_DEVICE void operator()(std::size_t i) const {
        auto const to = grid(x[i], i / bucket);
        codes[i] = static_cast<std::uint8_t>(to.fraction < 0x1p31 ? to.below : to.above);
    }
};

}  // namespace laconic::detail::on_device
