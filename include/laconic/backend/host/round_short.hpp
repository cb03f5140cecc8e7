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

#include "laconic/backend/host/memory.hpp"
#include "laconic/backend/short_format.hpp"
#include "laconic/core/contract.hpp"
#include "laconic/core/view.hpp"

namespace laconic {

/// The codes of the nearest numbers of a short format, the even code of two that are equally near; signs stay, those of
/// zeros too. Magnitudes above the largest finite number become that number. What is not finite becomes NaN. One pass
/// over x and one over the codes.
template <class A, Scalar T>
void round_to_short(basic_host<A>&, std::span<T const> x, short_layout f, std::span<std::uint16_t> codes) {
    LACONIC_EXPECTS(codes.size() == x.size());
    using bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
    constexpr int mantissa = std::numeric_limits<T>::digits - 1, bias = std::numeric_limits<T>::max_exponent - 1;
    constexpr bits hidden = bits{1} << mantissa, infinity = static_cast<bits>(2 * bias + 1) << mantissa;
    auto const code_of = [f](T v) {
        auto const b = std::bit_cast<bits>(v);
        auto const magnitude = static_cast<bits>(b << 1) >> 1;
        // |x| = digits x 2^(exponent - bias - mantissa); the same exponent in the short format, where it is below 1,
        // is that of its subnormal numbers, which leaves fewer digits.
        int const field = static_cast<int>(magnitude >> mantissa), exponent = std::max(field, 1);
        bits const digits = (magnitude & (hidden - 1)) | (field > 0 ? hidden : 0);
        int const wanted = exponent - bias + f.bias(), there = std::max(wanted, 1);
        int const cut = std::min(mantissa - f.mantissa + there - wanted, mantissa + 2);
        bits const middle = bits{1} << (cut - 1), odd = digits >> cut & 1;
        bits const kept = (digits + middle - 1 + odd) >> cut;
        // `kept` has the hidden bit of the short format, or is carried beyond it: either way the exponent goes up.
        auto const code = (static_cast<bits>(there - 1) << f.mantissa) + kept;
        bits const limited = magnitude < infinity ? std::min<bits>(code, f.largest()) : f.nan();
        return static_cast<std::uint16_t>(limited | (magnitude != b ? f.sign() : 0u));
    };
    std::array<std::uint16_t, 64> made;  // so many that the compiler knows and makes vectors of
    std::size_t i = 0;
    for (; i + made.size() <= x.size(); i += made.size()) {
        for (std::size_t j = 0; j < made.size(); ++j) made[j] = code_of(x[i + j]);
        std::copy(made.begin(), made.end(), codes.data() + i);
    }
    for (; i < x.size(); ++i) codes[i] = code_of(x[i]);
}

}  // namespace laconic
