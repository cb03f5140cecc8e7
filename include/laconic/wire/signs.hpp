// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "laconic/message/signs.hpp"
#include "laconic/wire/kind.hpp"
#include "laconic/wire/number.hpp"
#include "laconic/wire/shape.hpp"

namespace laconic::wire {

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

}  // namespace laconic::wire

namespace laconic::messages {

/// Writes the scales in full, then a bit for each sign.
template <BitSink W, Scalar T, class B>
void write(W& sink, signs<T, B> const& m) {
    charge(sink, message_part::scalars);
    put_numbers(sink, m.scales);
    charge(sink, message_part::values);
    write_signs(sink, m.words, m.count);
}
template <class B, BitSource R, Scalar T>
void read(B&, R& source, signs<T, B>& m) {
    take_magnitudes(source, m.scales, "scale");
    read_signs(source, m.words, m.count);
}

}  // namespace laconic::messages

namespace laconic::wire {

/// Signs: the length of a bucket, 0 where there are no scales.
struct signs_kind : leaf_kind {
    static constexpr message_kind number{4};
    template <Scalar T, BitSource R>
    static void take(R& source, stage& s) {
        s.first = take_between(source, 0, longest_support);
    }
    template <Scalar T, class B, class Reader, class Out>
    static void unpack(Reader& reader, stage const& s, std::uint64_t n, Out& out) {
        auto m = reader.template leaf<messages::signs<T, B>>(n, 1, 1 + sizeof(T));
        m.count = n;
        m.bucket = s.first;
        m.scales.resize(s.first == 0 ? 0 : buckets_of(n, s.first));
        m.words.resize(buckets_of(n, 64));
        reader.take(m, out);
    }
};

}  // namespace laconic::wire

namespace laconic::messages {

template <BitSink W, Scalar T, class B>
void write_shape(W& sink, signs<T, B> const& m) {
    put_kind(sink, signs_kind::number);
    put_length(sink, m.bucket, m.count);
}
template <Scalar T, class B>
double bits_as_paper(signs<T, B> const& m) {
    return 8.0 * sizeof(T) * static_cast<double>(m.scales.size()) + static_cast<double>(m.count);
}

}  // namespace laconic::messages
