// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>

#include "laconic/message/signs.hpp"
#include "laconic/wire/kind.hpp"
#include "laconic/wire/number.hpp"

namespace laconic {

namespace detail {

template <BitSink W, class Words>
void write_signs(W& sink, Words const& words, std::size_t count) {
    for (std::size_t w = 0; w < words.size(); ++w)
        sink.put(words[w], static_cast<unsigned>(std::min<std::size_t>(64, count - 64 * w)));
}
template <BitSource R, class Words>
void read_signs(R& source, Words& words, std::size_t count) {
    for (std::size_t w = 0; w < words.size(); ++w)
        words[w] = source.take(static_cast<unsigned>(std::min<std::size_t>(64, count - 64 * w)));
}

}  // namespace detail

/// Writes the scales in full, then a bit for each sign.
template <BitSink W, Scalar T, class B>
void write(W& sink, signs<T, B> const& m) {
    charge(sink, part::scalars);
    put_numbers(sink, m.scales);
    charge(sink, part::values);
    detail::write_signs(sink, m.words, m.count);
}
template <class B, BitSource R, Scalar T>
void read(B&, R& source, signs<T, B>& m) {
    take_magnitudes(source, m.scales, "scale");
    detail::read_signs(source, m.words, m.count);
}
template <BitSink W, Scalar T, class B>
void write_shape(W& sink, signs<T, B> const& m) {
    put_kind(sink, kind::signs);
    put_length(sink, m.bucket, m.count);
}
template <Scalar T, class B>
double bits_as_paper(signs<T, B> const& m) {
    return 8.0 * sizeof(T) * static_cast<double>(m.scales.size()) + static_cast<double>(m.count);
}

}  // namespace laconic
