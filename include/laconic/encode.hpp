// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <span>
#include <type_traits>
#include <vector>

#include "laconic/compress/compressor.hpp"
#include "laconic/wire/message.hpp"

/// The bytes of a compressed vector, for who has a transport of their own, and back. docs/sums.md has an example of
/// each.
namespace laconic {

namespace detail {

// The type that numbers of E are compressed in.
template <class E>
using compressed_as = std::conditional_t<Number16<E>, float, E>;

// Whether decode() may write into a vector of type X&&; where not, the compiler prints what to change.
template <class X>
consteval bool can_be_decoded_into() {
    using held = std::remove_reference_t<X>;
    constexpr bool is_contiguous = Contiguous<held>;
    static_assert(
        is_contiguous,
        "x is a vector whose numbers lie one after another in memory: a vector, array or span, an Eigen vector "
        "or matrix, or your own type with data() and size()");
    if constexpr (is_contiguous) {
        constexpr bool is_encoded = Scalar<compressed_as<element_of<held>>>;
        static_assert(is_encoded, "x holds neither float nor double nor numbers of 16 bits that convert to float");
        return is_encoded && can_be_written<X>();
    }
    return false;
}

/// x <- scale x + weight times the vector that the bytes are, scale being 0 or 1; all bytes are validated before x
/// changes. In float where x holds numbers of 16 bits. Throws wire_error.
template <class C, class E>
void add_read(C const& c, std::span<std::byte const> bytes, double scale, double weight, std::span<E> x, key from) {
    using T = compressed_as<E>;
    if constexpr (std::same_as<E, T>) {
        static_assert(require_compressor<C, T, backend_of<C>>());
        messages::check_dimension(x.size());
        c.check(x.size());
        backend_of<C> on;
        message_of<C, T> m;
        wire::bit_reader source(bytes);
        c.blank(on, x.size(), from, m);
        wire::read_and_add(on, source, m, c, static_cast<T>(weight), {x, true, scale == 0});
    } else {
        std::vector<T> sum(x.size());
        if (scale != 0) std::transform(x.begin(), x.end(), sum.begin(), [](E v) { return static_cast<T>(v); });
        add_read(c, bytes, 1, weight, std::span<T>(sum), from);
        std::transform(sum.begin(), sum.end(), x.begin(), [](T v) { return static_cast<E>(v); });
    }
}

}  // namespace detail

/// The bytes of the vector x as the compressor c encodes it: the bare form, which says neither what c is nor how long x
/// is (write_described in wire/described.hpp does). x is a contiguous range of float, double, or numbers of 16 bits,
/// which are compressed as float. What c draws it draws from `from`: for compressors that draw, give each message
/// another key, such as key{seed}.child(step).child(rank), and decode with the same. Throws argument_error where c does
/// not suit vectors of that length, or a number is not finite, and what c throws.
template <class C, Contiguous X>
std::vector<std::byte> encode(C const& c, X const& x, key from = {}) {
    using E = detail::element_of<X>;
    using T = detail::compressed_as<E>;
    constexpr bool is_encoded = Scalar<T>;
    static_assert(is_encoded, "x holds neither float nor double nor numbers of 16 bits that convert to float");
    wire::bit_writer sink;
    if constexpr (is_encoded) {
        static_assert(detail::require_compressor<C, T, detail::backend_of<C>>());
        auto const put = [&](std::span<T const> numbers) {
            messages::check_dimension(numbers.size());
            c.check(numbers.size());
            detail::backend_of<C> on;
            detail::message_of<C, T> m;
            wire::compress_and_write(on, sink, c, numbers, from, m);
        };
        if constexpr (std::same_as<E, T>) {
            put(detail::view(x));
        } else {
            std::vector<T> numbers(static_cast<std::size_t>(x.size()));
            std::transform(x.data(), x.data() + x.size(), numbers.begin(), [](E v) { return static_cast<T>(v); });
            put(numbers);
        }
    }
    return sink.take();
}

/// x <- the vector that the bytes of encode(c, y, from) decode to, where y has as many numbers and of the same type as
/// x. Trusts no byte: throws wire_error, with the bit and the reason, for what encode() cannot have made, and then x is
/// as it was. Allocates and works no more than the length of x allows. Bytes of another compressor, key or length may
/// be valid and mean another vector; read_described (wire/described.hpp) reads bytes that say what they are.
template <class C, class X>
void decode(C const& c, std::span<std::byte const> bytes, X&& x, key from = {}) {
    if constexpr (detail::can_be_decoded_into<X>()) detail::add_read(c, bytes, 0, 1, detail::view(x), from);
}

/// x <- x + weight times that vector. Otherwise as decode(); a message is added without a vector in between, except
/// where x holds numbers of 16 bits.
template <class C, class X>
void add_decoded(C const& c, std::span<std::byte const> bytes, double weight, X&& x, key from = {}) {
    if constexpr (detail::can_be_decoded_into<X>()) detail::add_read(c, bytes, 1, weight, detail::view(x), from);
}

}  // namespace laconic
