// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

#include "laconic/backend/host/round_at_random.hpp"
#include "laconic/backend/scales.hpp"
#include "laconic/backend/short_format.hpp"

/// Values to the codes of a short format.
namespace laconic::kernels {

/// The codes of the nearest numbers of a short format, the even code of two that are equally near; signs stay, those of
/// zeros too. Magnitudes above the largest finite number become that number. What is not finite becomes NaN. One pass
/// over x and one over the codes.
template <class A, Scalar T>
void round_to_short(basic_host<A>&, std::span<T const> x, short_layout f, detail::codes_out<A, std::uint16_t>& codes) {
    using bits = detail::bits_of<T>;
    constexpr int mantissa = std::numeric_limits<T>::digits - 1, bias = std::numeric_limits<T>::max_exponent - 1;
    constexpr bits infinity = static_cast<bits>(2 * bias + 1) << mantissa;
    auto const exponent = [](int field) { return static_cast<bits>(field) << mantissa; };
    // Below the least normal number of the format, a number is added whose last digit is worth the format's least: the
    // sum is rounded as it has to be.
    int const cut = mantissa - f.mantissa, rebias = bias - f.bias();
    bits const least_normal = exponent(rebias + 1), aligned = exponent(rebias + cut + 1);
    bits const below_middle = (bits{1} << (cut - 1)) - 1 - exponent(rebias);
    auto const code_of = [=](T v) {
        auto const b = std::bit_cast<bits>(v);
        auto const magnitude = static_cast<bits>(b << 1) >> 1;
        bits const odd = magnitude >> cut & 1;
        bits const normal = (magnitude + below_middle + odd) >> cut;  // a carry goes into the exponent, as it should
        bits const subnormal = std::bit_cast<bits>(std::bit_cast<T>(magnitude) + std::bit_cast<T>(aligned)) - aligned;
        auto const limited_of = [=](bits code) {
            if constexpr (sizeof(bits) > detail::masked_bytes)  // not made before it is known to be wanted
                return magnitude < infinity ? std::min<bits>(code, f.largest()) : bits{f.nan()};
            else
                return detail::one_of_two<bits>(magnitude < infinity, std::min<bits>(code, f.largest()), f.nan());
        };
        bits const limited = limited_of(detail::one_of_two(magnitude < least_normal, subnormal, normal));
        return static_cast<bits>(limited | (magnitude != b ? f.sign() : 0u));
    };
    [[maybe_unused]] auto const top = short_value<T>(f, f.largest());
    constexpr std::size_t
        together = rounded_together,
        some = detail::codes_out<A, std::uint16_t>::most;  // so many that the compiler knows and makes vectors of
    for (std::size_t i = 0; i < x.size(); i += some) {
        auto const part = x.subspan(i, std::min(some, x.size() - i));
        auto* const made = codes.room();
        std::size_t done = 0;
        for (; done + together <= part.size(); done += together) {
            detail::fetch_ahead<together * sizeof(T)>(part.data() + done);
            if constexpr (sizeof(T) == 4 && instruction_set::has_f16c)
                if (f.width() == 16 &&
                    detail::round_to_16_bits<A>(instruction_set::chosen{}, part.data() + done, f, top, made + done))
                    continue;
            std::array<bits, together> apart;
            for (std::size_t j = 0; j < together; ++j) apart[j] = code_of(part[done + j]);
            for (std::size_t j = 0; j < together; ++j) made[done + j] = static_cast<std::uint16_t>(apart[j]);
        }
        for (; done < part.size(); ++done) made[done] = static_cast<std::uint16_t>(code_of(part[done]));
        codes.made(done);
    }
}

/// Unbiased rounding to a short format: one of the two neighbours of x_i, the upper one with probability equal to the
/// fraction of the way to it (off by at most 2^-32); signs stay, those of zeros too. Magnitudes above the largest
/// finite number become that number. What is not finite becomes NaN.
template <class A, Scalar T>
void round_to_short(basic_host<A>&, std::span<T const> x, short_layout f, key from, std::uint64_t first,
                    detail::codes_out<A, std::uint16_t>& codes) {
    using bits = detail::bits_of<T>;
    constexpr auto n = rounded_together;
    constexpr int mantissa = std::numeric_limits<T>::digits - 1, bias = std::numeric_limits<T>::max_exponent - 1;
    constexpr bits infinity = static_cast<bits>(2 * bias + 1) << mantissa;
    int const cut = mantissa - f.mantissa, rebias = bias - f.bias();
    bits const zero = static_cast<bits>(rebias) << mantissa, least_normal = static_cast<bits>(rebias + 1) << mantissa;
    auto const top = std::bit_cast<bits>(short_value<T>(f, f.largest()));
    // Numbers below the least normal one in units of 2^-16 of the format's least, if T has that factor; else they are
    // decided one by one.
    int const field = bias + f.bias() - 1 + f.mantissa + 16;
    bool const scales = field <= 2 * bias;
    T const scale = scales ? std::bit_cast<T>(static_cast<bits>(field) << mantissa) : T(0);
    bits const unscaled = scales ? 0 : least_normal - 1;
    int const right = std::max(cut - 16, 0), left = std::max(16 - cut, 0);
    auto const together = [=](T const* v, std::uint16_t const* windows, std::uint16_t* out) {
        std::array<std::uint32_t, n> made;
        detail::fetch_ahead<n * sizeof(T)>(v);
        std::uint32_t open = 0;
        for (std::size_t j = 0; j < n; ++j) {
            auto const b = std::bit_cast<bits>(v[j]);
            auto const magnitude = static_cast<bits>(b << 1) >> 1;
            bits const limited = std::min(magnitude, top);
            bits const normal = (limited - zero) >> right << left;
            T const in_range = std::bit_cast<T>(std::min(limited, least_normal)) * scale;
            auto const below = static_cast<std::uint32_t>(static_cast<std::int32_t>(in_range));
            // The code below and the fraction, in units of 2^-16, and the window.
            std::uint32_t const sum =
                detail::one_of_two(limited < least_normal, below, static_cast<std::uint32_t>(normal)) + windows[j];
            auto const code = detail::one_of_two<std::uint32_t>(magnitude < infinity, sum >> 16, f.nan());
            made[j] = code | (magnitude != b ? f.sign() : 0u);
            open |= (sum & 0xffff) == 0xffff ? 1u : 0u;
            open |= magnitude - 1 < unscaled ? 1u : 0u;  // not of 0
        }
        for (std::size_t j = 0; j < n; ++j) out[j] = static_cast<std::uint16_t>(made[j]);
        return detail::all_bits_if(open != 0);
    };
    auto const exactly = [=](T v, std::uint32_t chance) {
        auto const b = std::bit_cast<bits>(v);
        auto const magnitude = static_cast<bits>(b << 1) >> 1;
        bits const limited = std::min(magnitude, top);
        double fraction = 0;
        std::uint32_t code = 0;
        if (limited < least_normal) {
            double const size = std::ldexp(static_cast<double>(std::bit_cast<T>(limited)), f.bias() - 1 + f.mantissa);
            code = static_cast<std::uint32_t>(size);
            fraction = size - code;
        } else {
            code = static_cast<std::uint32_t>((limited - zero) >> cut);
            fraction = std::ldexp(static_cast<double>(limited & ((bits{1} << cut) - 1)), -cut);
        }
        if (detail::goes_up(fraction, chance)) ++code;
        if (magnitude >= infinity) code = f.nan();
        return static_cast<std::uint16_t>(code | (magnitude != b ? f.sign() : 0u));
    };
    random_windows<A> draws(from, first, first + x.size());
    round_at_random(draws, x, first, codes, together, exactly);
}

/// Both, into an array or a stream.
template <class A, Scalar T, CodesOf<std::uint16_t> Codes>
void round_to_short(basic_host<A>& on, std::span<T const> x, short_layout f, Codes codes) {
    LACONIC_EXPECTS(have_room(codes, x.size()));
    detail::codes_out<A, std::uint16_t> out(codes, 2 * x.size() >= detail::bytes_past_caches);
    round_to_short(on, x, f, out);
    out.finish();
}
template <class A, Scalar T, CodesOf<std::uint16_t> Codes>
void round_to_short(basic_host<A>& on, std::span<T const> x, short_layout f, key from, std::uint64_t first,
                    Codes codes) {
    LACONIC_EXPECTS(have_room(codes, x.size()));
    detail::codes_out<A, std::uint16_t> out(codes, 2 * x.size() >= detail::bytes_past_caches);
    round_to_short(on, x, f, from, first, out);
    out.finish();
}

}  // namespace laconic::kernels
