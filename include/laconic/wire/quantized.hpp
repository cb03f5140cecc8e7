// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstdint>

#include "laconic/message/quantized.hpp"
#include "laconic/wire/codes.hpp"
#include "laconic/wire/kind.hpp"
#include "laconic/wire/number.hpp"
#include "laconic/wire/shape.hpp"

namespace laconic::messages {

/// Writes the steps of the grids in full, then the codes.
template <BitSink W, Scalar T, class B>
void write(W& sink, quantized<T, B> const& m) {
    charge(sink, message_part::scalars);
    put_numbers(sink, m.steps);
    charge(sink, message_part::values);
    m.with_codes(m, [&](auto const& codes) { write_codes(sink, codes, m.levels); });
}
template <class B, BitSource R, Scalar T>
void read(B&, R& source, quantized<T, B>& m) {
    for (T& step : m.steps) {
        step = take_magnitude<T>(source, "step");
        if (!std::isfinite(step * static_cast<T>(m.levels))) source.refuse("a step whose grid is not finite");
    }
    m.with_codes(m, [&](auto& codes) { read_codes(source, codes, m.levels); });
}

}  // namespace laconic::messages

namespace laconic::wire {

/// Levels of a uniform grid: how many there are to a side, and the length of a bucket.
struct quantized_kind : leaf_kind {
    static constexpr message_kind number{2};
    template <Scalar T, BitSource R>
    static void take(R& source, stage& s) {
        s.first = take_between(source, 1, 32767);
        s.second = take_between(source, 1, longest_support);
    }
    template <Scalar T, class B, class Reader, class Out>
    static void unpack(Reader& reader, stage const& s, std::uint64_t n, Out& out) {
        constexpr auto most_in_byte = static_cast<std::uint64_t>(messages::quantized<T, B>::most_in_byte);
        auto m = reader.template leaf<messages::quantized<T, B>>(
            n, 1, (s.first <= most_in_byte ? sizeof(std::int8_t) : sizeof(std::int16_t)) + sizeof(T));
        m.levels = static_cast<int>(s.first);
        m.bucket = s.second;
        m.steps.resize(buckets_of(n, s.second));
        m.resize(n);
        reader.take(m, out);
    }
};

}  // namespace laconic::wire

namespace laconic::messages {

template <BitSink W, Scalar T, class B>
void write_shape(W& sink, quantized<T, B> const& m) {
    put_kind(sink, quantized_kind::number);
    put_whole(sink, static_cast<std::uint64_t>(m.levels));
    put_length(sink, m.bucket, m.dimension());
}
/// Counts log2(2 levels + 1) bits a number; with one level, log2 3 (TernGrad).
template <Scalar T, class B>
double bits_as_paper(quantized<T, B> const& m) {
    return 8.0 * sizeof(T) * static_cast<double>(m.steps.size()) +
           std::log2(2.0 * m.levels + 1) * static_cast<double>(m.dimension());
}

}  // namespace laconic::messages
