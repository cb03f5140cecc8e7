// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

#include "laconic/message/plain.hpp"
#include "laconic/message/powers.hpp"
#include "laconic/message/quantized.hpp"
#include "laconic/message/signs.hpp"
#include "laconic/message/sparse.hpp"
#include "laconic/wire/stream.hpp"
#include "laconic/wire/support.hpp"

/// How each message is spelled, in the bare form for ranks that run the same composition. write(sink, m) says all that
/// a receiver does not know; read(on, source, m) fills in a blank m, made by the same compressor for the same dimension
/// and key, and throws wire_error at the first bit that cannot be right.
namespace laconic {

namespace detail {

template <Scalar T, BitSink W>
void write_number(W& sink, T v) {
    if constexpr (sizeof(T) == 4)
        sink.put(std::bit_cast<std::uint32_t>(v), 32);
    else
        sink.put(std::bit_cast<std::uint64_t>(v), 64);
}

template <Scalar T, BitSource R>
T read_number(R& source) {
    T v;
    if constexpr (sizeof(T) == 4)
        v = std::bit_cast<float>(static_cast<std::uint32_t>(source.take(32)));
    else
        v = std::bit_cast<double>(source.take(64));
    if (!std::isfinite(v)) source.refuse("a number that is not finite");
    return v;
}

}  // namespace detail

/// Numbers in full: 32 or 64 bits each.
template <BitSink W, Scalar T, class B>
void write(W& sink, plain<T, B> const& m) {
    for (T const v : m.values) detail::write_number(sink, v);
}
template <class B, BitSource R, Scalar T>
void read(B&, R& source, plain<T, B>& m) {
    for (T& v : m.values) v = detail::read_number<T>(source);
}

/// The steps in full, then codes + levels in the least width that holds 2 levels.
template <BitSink W, Scalar T, class B>
void write(W& sink, quantized<T, B> const& m) {
    for (T const step : m.steps) detail::write_number(sink, step);
    unsigned const width = width_of(2 * static_cast<std::uint64_t>(m.levels) + 1);
    for (auto const code : m.codes) sink.put(static_cast<std::uint64_t>(code + m.levels), width);
}
template <class B, BitSource R, Scalar T>
void read(B&, R& source, quantized<T, B>& m) {
    for (T& step : m.steps) {
        step = detail::read_number<T>(source);
        if (std::signbit(step)) source.refuse("a negative step");
        if (!std::isfinite(step * static_cast<T>(m.levels))) source.refuse("a step whose grid is not finite");
    }
    unsigned const width = width_of(2 * static_cast<std::uint64_t>(m.levels) + 1);
    for (auto& code : m.codes) {
        auto const word = source.take(width);
        if (word > 2 * static_cast<std::uint64_t>(m.levels)) source.refuse("a level outside the grid");
        code = static_cast<std::int16_t>(static_cast<int>(word) - m.levels);
    }
}

/// 9 (float) or 12 (double) bits each: the exponent field, then the sign above it.
template <BitSink W, Scalar T, class B>
void write(W& sink, powers<T, B> const& m) {
    for (auto const code : m.codes) sink.put(code, powers<T, B>::code_width);
}
template <class B, BitSource R, Scalar T>
void read(B&, R& source, powers<T, B>& m) {
    using message = powers<T, B>;
    for (auto& code : m.codes) {
        code = static_cast<std::uint16_t>(source.take(message::code_width));
        if ((code & ((1u << message::exponent_width) - 1)) > message::largest_exponent)
            source.refuse("an exponent that is not finite");
    }
}

/// The scales in full, then a bit for each sign.
template <BitSink W, Scalar T, class B>
void write(W& sink, signs<T, B> const& m) {
    for (T const scale : m.scales) detail::write_number(sink, scale);
    for (std::size_t w = 0; w < m.words.size(); ++w)
        sink.put(m.words[w], static_cast<unsigned>(std::min<std::size_t>(64, m.count - 64 * w)));
}
template <class B, BitSource R, Scalar T>
void read(B&, R& source, signs<T, B>& m) {
    for (T& scale : m.scales) {
        scale = detail::read_number<T>(source);
        if (std::signbit(scale)) source.refuse("a negative scale");
    }
    for (std::size_t w = 0; w < m.words.size(); ++w)
        m.words[w] = source.take(static_cast<unsigned>(std::min<std::size_t>(64, m.count - 64 * w)));
}

/// As much of the support as is not known, then the payload.
template <BitSink W, class Rest, support_is Known, Scalar T, class B>
void write(W& sink, sparse<Rest, Known, T, B> const& m) {
    if constexpr (Known == support_is::told) sink.put(m.support.size(), width_of(std::uint64_t{m.length} + 1));
    if constexpr (Known != support_is::agreed) write_support(sink, m.length, std::span<coordinate const>(m.support));
    write(sink, m.payload);
}
template <class B, BitSource R, class Rest, support_is Known, Scalar T>
void read(B& on, R& source, sparse<Rest, Known, T, B>& m) {
    if constexpr (Known == support_is::told) {
        auto const count = source.take(width_of(std::uint64_t{m.length} + 1));
        if (count > m.length) source.refuse("more coordinates than the vector has");
        m.expect(on, static_cast<std::size_t>(count));
    }
    if constexpr (Known != support_is::agreed) read_support(source, m.length, std::span<coordinate>(m.support));
    read(on, source, m.payload);
}

/// The size of a message in bits: what write() writes, because it is write() that counts. On the wire it is padded to
/// whole bytes.
template <class M>
std::uint64_t bits(M const& m) {
    bit_counter sink;
    write(sink, m);
    return sink.bits();
}

}  // namespace laconic
