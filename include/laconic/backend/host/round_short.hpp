// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <type_traits>

#include "laconic/backend/host/impl/fetch.hpp"
#include "laconic/backend/host/impl/past_caches.hpp"
#include "laconic/backend/host/memory.hpp"
#include "laconic/backend/short_format.hpp"
#include "laconic/core/contract.hpp"
#include "laconic/core/view.hpp"

namespace laconic::kernels {

/// The codes of the nearest numbers of a short format, the even code of two that are equally near; signs stay, those of
/// zeros too. Magnitudes above the largest finite number become that number. What is not finite becomes NaN. One pass
/// over x and one over the codes.
template <class A, Scalar T>
void round_to_short(basic_host<A>&, std::span<T const> x, short_layout f, std::span<std::uint16_t> codes) {
    LACONIC_EXPECTS(codes.size() == x.size());
    using bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
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
        return static_cast<std::uint16_t>(limited | (magnitude != b ? f.sign() : 0u));
    };
    constexpr std::size_t together = 64, some = 8 * together;  // so many that the compiler knows and makes vectors of
    alignas(64) std::array<std::uint16_t, some> made;
    bool const past_caches = codes.size_bytes() >= detail::bytes_past_caches;
    for (std::size_t i = 0; i < x.size(); i += some) {
        auto const part = x.subspan(i, std::min(some, x.size() - i));
        std::size_t done = 0;
        for (; done + together <= part.size(); done += together) {
            detail::fetch_ahead<together * sizeof(T)>(part.data() + done);
            for (std::size_t j = 0; j < together; ++j) made[done + j] = code_of(part[done + j]);
        }
        for (; done < part.size(); ++done) made[done] = code_of(part[done]);
        auto const out = codes.subspan(i, done);
        if (past_caches)
            detail::copy_past_caches<A>(std::as_bytes(std::span(made).first(done)), std::as_writable_bytes(out));
        else
            std::copy_n(made.begin(), done, out.begin());
    }
    if (past_caches) detail::order_past_caches<A>();
}

}  // namespace laconic::kernels
