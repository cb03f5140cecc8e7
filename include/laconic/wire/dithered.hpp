// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstdint>

#include "laconic/message/dithered.hpp"
#include "laconic/wire/codes.hpp"
#include "laconic/wire/kind.hpp"
#include "laconic/wire/number.hpp"
#include "laconic/wire/shape.hpp"

namespace laconic::messages {

/// Writes the norms in full, then the codes.
template <BitSink W, Scalar T, class B>
void write(W& sink, dithered<T, B> const& m) {
    charge(sink, message_part::scalars);
    put_numbers(sink, m.norms);
    charge(sink, message_part::values);
    write_codes(sink, m.codes, m.levels);
}
template <class B, BitSource R, Scalar T>
void read(B&, R& source, dithered<T, B>& m) {
    take_magnitudes(source, m.norms, "norm");
    read_codes(source, m.codes, m.levels);
}

}  // namespace laconic::messages

namespace laconic::wire {

/// Levels that halve: how many there are, and the length of a bucket.
struct dithered_kind : leaf_kind {
    static constexpr message_kind number{5};
    template <Scalar T, BitSource R>
    static void take(R& source, stage& s) {
        s.first = take_between(source, 1, 1000);
        s.second = take_between(source, 1, longest_support);
    }
    template <Scalar T, class B, class Reader, class Out>
    static void unpack(Reader& reader, stage const& s, std::uint64_t n, Out& out) {
        auto m = reader.template leaf<messages::dithered<T, B>>(n, 1, sizeof(std::int16_t) + sizeof(T));
        m.levels = static_cast<int>(s.first);
        m.bucket = s.second;
        m.norms.resize(buckets_of(n, s.second));
        m.codes.resize(n);
        reader.take(m, out);
    }
};

}  // namespace laconic::wire

namespace laconic::messages {

template <BitSink W, Scalar T, class B>
void write_shape(W& sink, dithered<T, B> const& m) {
    put_kind(sink, dithered_kind::number);
    put_whole(sink, static_cast<std::uint64_t>(m.levels));
    put_length(sink, m.bucket, m.codes.size());
}
/// Counts a sign and one of levels + 1 levels for each number, and the norms in full.
template <Scalar T, class B>
double bits_as_paper(dithered<T, B> const& m) {
    return 8.0 * sizeof(T) * static_cast<double>(m.norms.size()) +
           (1 + std::log2(m.levels + 1.0)) * static_cast<double>(m.codes.size());
}

}  // namespace laconic::messages
