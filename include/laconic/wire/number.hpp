// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <limits>
#include <span>
#include <string>
#include <type_traits>

#include "laconic/backend/array.hpp"
#include "laconic/wire/stream.hpp"

namespace laconic::detail {

template <class Array>
concept lies_as_on_wire = std::endian::native == std::endian::little&& requires(Array& numbers) {
    requires Scalar<std::remove_cvref_t<decltype(*std::data(numbers))>>;
    std::span(numbers);
};

}  // namespace laconic::detail

namespace laconic::wire {

/// Puts a number in full: its 32 or 64 bits.
template <Scalar T, BitSink W>
void put_number(W& sink, T v) {
    sink.put(std::bit_cast<detail::bits_of<T>>(v), 8 * sizeof(T));
}

/// Reads such a number; throws wire_error where it is not finite.
template <Scalar T>
T take_number(bit_reader& source) {
    T const v = std::bit_cast<T>(static_cast<detail::bits_of<T>>(source.take(8 * sizeof(T))));
    if (!std::isfinite(v)) source.refuse("a number that is not finite");
    return v;
}

/// The same for a number that cannot be negative; -0 counts as negative.
template <Scalar T>
T take_magnitude(bit_reader& source, char const* what) {
    T const v = take_number<T>(source);
    if (std::signbit(v)) source.refuse(std::string("a negative ") + what);
    return v;
}

/// Puts the numbers of an array in full, one after another: all at once where memory has the byte order of the wire.
template <BitSink W, class Array>
void put_numbers(W& sink, Array const& numbers) {
    static_assert(!kernels::OutOfReach<Array const>,
                  "a device's messages are written by way of the host (wire/by_host.hpp)");
    if constexpr (detail::lies_as_on_wire<Array> && requires { sink.put_bytes(std::as_bytes(std::span(numbers))); })
        sink.put_bytes(std::as_bytes(std::span(numbers)));
    else
        for (auto const v : numbers) put_number(sink, v);
}

/// The bits of an array's numbers in full.
double bits_in_full(auto const& numbers) { return 8.0 * sizeof(numbers[0]) * static_cast<double>(numbers.size()); }

/// Fills an array with such numbers; throws wire_error at the first that is not finite.
template <class Array>
void take_numbers(bit_reader& source, Array&& numbers) {
    static_assert(!kernels::OutOfReach<Array>, "a device's messages are read by way of the host (wire/by_host.hpp)");
    using T = std::remove_cvref_t<decltype(*std::data(numbers))>;
    if constexpr (detail::lies_as_on_wire<Array>) {
        using bits = detail::bits_of<T>;
        constexpr bits exponent = std::bit_cast<bits>(std::numeric_limits<T>::infinity());
        std::span const to(numbers);
        auto const bytes = std::as_writable_bytes(to);
        if (auto const before = source; bytes.size() <= source.left() / 8) {
            auto const* const from = source.take_bits(8 * std::uint64_t{bytes.size()}, bytes).data();
            // One more in its last place carries an exponent of ones into the sign, whatever the processor can compare.
            bits carried = 0;
            for (std::size_t i = 0; i < to.size(); ++i) {
                bits word;
                std::memcpy(&word, from + i * sizeof word, sizeof word);
                carried |= (word & exponent) + (exponent & -exponent);
                to[i] = std::bit_cast<T>(word);
            }
            if (carried >> (8 * sizeof(T) - 1) == 0) return;
            source = before;  // one by one, to find the place
        }
    }
    for (T& v : numbers) v = take_number<T>(source);
}

}  // namespace laconic::wire
