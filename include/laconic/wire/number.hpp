// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

#include "laconic/core/view.hpp"
#include "laconic/wire/stream.hpp"

namespace laconic {

/// A number in full: its 32 or 64 bits.
template <Scalar T, BitSink W>
void put_number(W& sink, T v) {
    if constexpr (sizeof(T) == 4)
        sink.put(std::bit_cast<std::uint32_t>(v), 32);
    else
        sink.put(std::bit_cast<std::uint64_t>(v), 64);
}

/// Reads such a number; throws wire_error where it is not finite.
template <Scalar T, BitSource R>
T take_number(R& source) {
    T v;
    if constexpr (sizeof(T) == 4)
        v = std::bit_cast<float>(static_cast<std::uint32_t>(source.take(32)));
    else
        v = std::bit_cast<double>(source.take(64));
    if (!std::isfinite(v)) source.refuse("a number that is not finite");
    return v;
}

/// The same for a number that cannot be negative; -0 is.
template <Scalar T, BitSource R>
T take_magnitude(R& source, char const* what) {
    T const v = take_number<T>(source);
    if (std::signbit(v)) source.refuse(std::string("a negative ") + what);
    return v;
}

}  // namespace laconic
