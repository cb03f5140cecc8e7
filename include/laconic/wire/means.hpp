// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "laconic/message/means.hpp"
#include "laconic/wire/kind.hpp"
#include "laconic/wire/number.hpp"
#include "laconic/wire/shape.hpp"
#include "laconic/wire/signs.hpp"

namespace laconic::messages {

/// Writes for each bucket the magnitude of its negative numbers, then that of the others, in full; then a bit for each
/// sign.
template <BitSink W, Scalar T, class B>
void write(W& sink, means<T, B> const& m) {
    charge(sink, message_part::scalars);
    for (std::size_t b = 0; b < m.above.size(); ++b) {
        put_number<T>(sink, m.below[b]);
        put_number<T>(sink, m.above[b]);
    }
    charge(sink, message_part::values);
    write_signs(sink, m.words, m.count);
}
template <class B, BitSource R, Scalar T>
void read(B&, R& source, means<T, B>& m) {
    for (std::size_t b = 0; b < m.above.size(); ++b) {
        m.below[b] = take_magnitude<T>(source, "magnitude of a mean");
        m.above[b] = take_magnitude<T>(source, "magnitude of a mean");
    }
    read_signs(source, m.words, m.count);
}

}  // namespace laconic::messages

namespace laconic::wire {

/// Signs with two means: the length of a bucket.
struct means_kind : leaf_kind {
    static constexpr message_kind number{6};
    template <Scalar T, BitSource R>
    static void take(R& source, stage& s) {
        s.first = take_between(source, 1, longest_support);
    }
    template <Scalar T, class B, class Reader, class Out>
    static void unpack(Reader& reader, stage const& s, std::uint64_t n, Out& out) {
        auto m = reader.template leaf<messages::means<T, B>>(n, 1, 1 + 2 * sizeof(T));
        m.count = n;
        m.bucket = s.first;
        m.below.resize(buckets_of(n, s.first));
        m.above.resize(m.below.size());
        m.words.resize(buckets_of(n, 64));
        reader.take(m, out);
    }
};

}  // namespace laconic::wire

namespace laconic::messages {

template <BitSink W, Scalar T, class B>
void write_shape(W& sink, means<T, B> const& m) {
    put_kind(sink, means_kind::number);
    put_length(sink, m.bucket, m.count);
}
template <Scalar T, class B>
double bits_as_paper(means<T, B> const& m) {
    return 16.0 * sizeof(T) * static_cast<double>(m.above.size()) + static_cast<double>(m.count);
}

}  // namespace laconic::messages
