// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <string>
#include <type_traits>

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

/// The numbers of an array in full, one after another.
template <BitSink W, class Array>
void put_numbers(W& sink, Array const& numbers) {
    for (auto const v : numbers) put_number(sink, v);
}

/// Fills an array with such numbers, none of which can be negative.
template <BitSource R, class Array>
void take_magnitudes(R& source, Array& numbers, char const* what) {
    for (auto& v : numbers) v = take_magnitude<std::remove_reference_t<decltype(v)>>(source, what);
}

}  // namespace laconic
