// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "laconic/message/scaled.hpp"
#include "laconic/wire/kind.hpp"
#include "laconic/wire/ledger.hpp"
#include "laconic/wire/number.hpp"
#include "laconic/wire/shape.hpp"

namespace laconic::messages {

/// Writes the message inside: both ends know the factor.
template <BitSink W, class M, Scalar T>
void write(W& sink, scaled<M, T> const& m) {
    write(sink, m.inside);
}
template <class B, BitSource R, class M, Scalar T>
void read(B& on, R& source, scaled<M, T>& m) {
    read(on, source, m.inside);
}

}  // namespace laconic::messages

namespace laconic::wire {

/// A message times a factor of at most 1, which is a T.
struct scaled_kind {
    static constexpr message_kind number{33};
    static constexpr follow next = follow::one_shape;
    template <Scalar T, BitSource R>
    static void take(R& source, stage& s) {
        s.factor = static_cast<double>(take_magnitude<T>(source, "factor"));
        if (!(s.factor <= 1)) source.refuse("a factor above 1");
    }
    template <Scalar T, class B, class Reader, class Out>
    static void unpack(Reader& reader, stage const& s, std::uint64_t n, Out& out) {
        reader.next_stage(n, out);
        reader.work(out.values.size());
        for (double& v : out.values) v = static_cast<double>(static_cast<T>(v) * static_cast<T>(s.factor));
    }
};

}  // namespace laconic::wire

namespace laconic::messages {

template <BitSink W, class M, Scalar T>
void write_shape(W& sink, scaled<M, T> const& m) {
    put_kind(sink, scaled_kind::number);
    put_number(sink, m.factor);
    write_shape(sink, m.inside);
}
template <class M, Scalar T>
double bits_as_paper(scaled<M, T> const& m) {
    return bits_as_paper(m.inside);
}

}  // namespace laconic::messages
