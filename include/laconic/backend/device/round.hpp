// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

#include "laconic/backend/device/passes.hpp"
#include "laconic/backend/short_format.hpp"

/// Values to short codes. None waits. Element i draws chance first + i of the key. Contracts stand at the host's forms.
namespace laconic::detail::on_device {

// The two codes that a value may become, the upper one where the fraction of the way that is behind it and its chance,
// both in units of 2^-32, make a whole.
struct neighbours_of_value {
    double fraction;
    int below, above;
    LACONIC_HOST_DEVICE bool goes_up(std::uint32_t chance) const {
        return fraction + static_cast<double>(chance) >= 0x1p32;
    }
};

/// codes_i = round.code(x_i, below or above), where round(x_i, b) gives these for a number of bucket b, for all numbers
/// whose chances begin with windows of one block of the key: sixteen, eight and eight, of which nearly all are decided
/// by them.
template <Scalar T, class Round>
struct round_sixteen {
    using code = typename Round::code_type;
    Round round;
    T const* x;
    code* codes;
    std::size_t n, bucket;
    key from;
    std::uint64_t first;

    LACONIC_HOST_DEVICE void operator()(std::size_t t) const {
        std::uint64_t const block = first / 64 * 4 + t, draw = block / 4 * 64 + block % 4 * 8;
        auto const words = from.block(detail::for_windows, block);
        round_eight(words, draw);
        round_eight({std::rotr(words[0], 8), std::rotr(words[1], 8), std::rotr(words[2], 8), std::rotr(words[3], 8)},
                    draw + 32);
    }
    LACONIC_HOST_DEVICE void round_eight(std::array<std::uint32_t, 4> words, std::uint64_t first_draw) const {
        std::size_t b = 0, last = 0;  // the bucket, and where it ends
        for (std::uint32_t j = 0; j < 8; ++j) {
            std::uint32_t const lower_end = (words[0] + from.turn) << 16, upper_end = lower_end | 0xffffu;
            // The next half comes to the front: what stands in registers has no index.
            words = {j % 2 == 0 ? words[0] >> 16 : words[1], j % 2 == 0 ? words[1] : words[2],
                     j % 2 == 0 ? words[2] : words[3], words[3]};
            std::uint64_t const draw = first_draw + j;
            std::size_t const i = draw - first;
            if (draw < first || i >= n) continue;
            if (i >= last) {
                b = i / bucket;
                last = (b + 1) * bucket;
            }
            T const v = x[i];
            neighbours_of_value const to = round(v, b);
            bool const up = to.goes_up(lower_end) || (to.goes_up(upper_end) && to.goes_up(from.chance(draw)));
            codes[i] = round.code(v, up ? to.above : to.below);
        }
    }
};
template <Scalar T, class Round>
void round_at_random(device& on, std::span<T const> x, std::size_t bucket, key from, std::uint64_t first,
                     typename Round::code_type* codes, Round round) {
    if (x.empty()) return;
    std::size_t const groups = (first + x.size() - 1) / 64 - first / 64 + 1;
    for_each_index(on, 4 * groups, round_sixteen<T, Round>{round, x.data(), codes, x.size(), bucket, from, first});
}

template <Scalar T>
struct to_powers {
    using code_type = std::uint16_t;
    static constexpr int mantissa = std::numeric_limits<T>::digits - 1;
    static constexpr int exponent = static_cast<int>(8 * sizeof(T)) - 1 - mantissa;

    LACONIC_HOST_DEVICE neighbours_of_value operator()(T v, std::size_t) const {
        auto const bits = magnitude_bits(v);
        auto const cut = bits & ((bits_of<T>{1} << mantissa) - 1);
        int const below = static_cast<int>(bits >> mantissa), most = (1 << exponent) - 2;
        // The fraction in units of 2^-32, rounded down.
        auto const fraction = static_cast<std::uint32_t>(std::uint64_t{cut} << (64 - mantissa) >> 32);
        return {static_cast<double>(fraction), below, below < most ? below + 1 : below};
    }
    LACONIC_HOST_DEVICE std::uint16_t code(T v, int field) const {
        return static_cast<std::uint16_t>((magnitude_bits(v) != std::bit_cast<bits_of<T>>(v) ? 1 << exponent : 0) |
                                          field);
    }
};

template <Scalar T>
struct to_short {
    using code_type = std::uint16_t;
    static constexpr int mantissa = std::numeric_limits<T>::digits - 1, bias = std::numeric_limits<T>::max_exponent - 1;
    kernels::short_layout f;

    LACONIC_HOST_DEVICE neighbours_of_value operator()(T v, std::size_t) const {
        constexpr bits_of<T> hidden = bits_of<T>{1} << mantissa;
        auto const magnitude = magnitude_bits(v);
        if (magnitude >= infinite_bits<T>) return {0, f.nan(), f.nan()};
        int const field = static_cast<int>(magnitude >> mantissa), exponent = field < 1 ? 1 : field;
        bits_of<T> const digits = (magnitude & (hidden - 1)) | (field > 0 ? hidden : 0);
        int const wanted = exponent - bias + f.bias(), least = wanted < 1 ? 1 : wanted;
        int const shift = mantissa - f.mantissa + least - wanted, cut = shift < mantissa + 1 ? shift : mantissa + 1;
        auto const code = (static_cast<bits_of<T>>(least - 1) << f.mantissa) + (digits >> cut);
        if (code >= f.largest()) return {0, f.largest(), f.largest()};
        // What is cut off in units of 2^-32, times a power of two where all digits are, and more.
        double const fraction = std::ldexp(static_cast<double>(digits & ((bits_of<T>{1} << cut) - 1)), 32 - shift);
        return {fraction, static_cast<int>(code), static_cast<int>(code) + 1};
    }
    LACONIC_HOST_DEVICE std::uint16_t code(T v, int magnitude) const {
        return static_cast<std::uint16_t>((magnitude_bits(v) != std::bit_cast<bits_of<T>>(v) ? f.sign() : 0) |
                                          magnitude);
    }
    LACONIC_HOST_DEVICE std::uint16_t nearest(T v) const {
        using bits = bits_of<T>;
        constexpr bits hidden = bits{1} << mantissa;
        bits const magnitude = magnitude_bits(v);
        int const field = static_cast<int>(magnitude >> mantissa), exponent = field < 1 ? 1 : field;
        bits const digits = (magnitude & (hidden - 1)) | (field > 0 ? hidden : 0);
        int const wanted = exponent - bias + f.bias(), least = wanted < 1 ? 1 : wanted;
        int const longest = mantissa + 2, shift = mantissa - f.mantissa + least - wanted;
        int const cut = shift < longest ? shift : longest;
        bits const middle = bits{1} << (cut - 1), odd = digits >> cut & 1;
        bits const all = (static_cast<bits>(least - 1) << f.mantissa) + ((digits + middle - 1 + odd) >> cut);
        bits const limited = magnitude >= infinite_bits<T> ? f.nan() : all < f.largest() ? all : f.largest();
        return code(v, static_cast<int>(limited));
    }
};

// The same of a number over the scale of its bucket, times `shared`.
template <Scalar T>
struct to_blocks {
    using code_type = std::uint16_t;
    to_short<T> element;
    T const* scales;
    T shared;
    LACONIC_HOST_DEVICE T quotient(T v, std::size_t b) const {
        T const by = shared * scales[b];
        return by > 0 ? v / by : v;
    }
    LACONIC_HOST_DEVICE neighbours_of_value operator()(T v, std::size_t b) const { return element(quotient(v, b), b); }
    LACONIC_HOST_DEVICE std::uint16_t code(T v, int magnitude) const { return element.code(v, magnitude); }
};

// The grids of buckets, as round_at_random() takes them.

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

}  // namespace laconic::detail::on_device

namespace laconic::kernels {

template <Scalar T>
void round_to_powers(device& on, std::span<T const> x, key from, std::uint64_t first, std::span<std::uint16_t> codes) {
    LACONIC_EXPECTS(codes.size() == x.size());
    using namespace detail::on_device;
    round_at_random(on, x, x.size(), from, first, codes.data(), to_powers<T>{});
}

template <Scalar T>
void round_to_short(device& on, std::span<T const> x, short_layout f, std::span<std::uint16_t> codes) {
    LACONIC_EXPECTS(codes.size() == x.size());
    using namespace detail::on_device;
    for_each_index(on, x.size(), [=] LACONIC_DEVICE(std::size_t i) { codes[i] = to_short<T>{f}.nearest(x[i]); });
}

template <Scalar T>
void round_to_short(device& on, std::span<T const> x, short_layout f, key from, std::uint64_t first,
                    std::span<std::uint16_t> codes) {
    LACONIC_EXPECTS(codes.size() == x.size());
    using namespace detail::on_device;
    round_at_random(on, x, x.size(), from, first, codes.data(), to_short<T>{f});
}

template <Scalar T>
void pack_signs(device& on, std::span<T const> x, std::span<std::uint64_t> words) {
    LACONIC_EXPECTS(detail::make_pieces(words.size(), x.size(), 64));
    using namespace detail::on_device;
    auto* const bytes = reinterpret_cast<std::uint8_t*>(words.data());
    // Byte t of words that fill up from their lowest bit, so that neighbouring threads read neighbouring numbers.
    for_each_index(on, words.size_bytes(), [=] LACONIC_DEVICE(std::size_t t) {
        std::uint32_t byte = 0;
        for (std::uint32_t j = 0; j < 8; ++j) {
            std::size_t const i = 8 * t + j;
            byte |= std::uint32_t{i < x.size() && x[i] < 0} << j;
        }
        bytes[place_of_byte<std::uint64_t>(t)] = static_cast<std::uint8_t>(byte);
    });
}

}  // namespace laconic::kernels
