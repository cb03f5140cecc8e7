// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "laconic/message/plain.hpp"
#include "laconic/wire/kind.hpp"
#include "laconic/wire/number.hpp"

namespace laconic {

/// Numbers in full: 32 or 64 bits each.
template <BitSink W, Scalar T, class B>
void write(W& sink, plain<T, B> const& m) {
    charge(sink, part::values);
    for (T const v : m.values) put_number(sink, v);
}
template <class B, BitSource R, Scalar T>
void read(B&, R& source, plain<T, B>& m) {
    for (T& v : m.values) v = take_number<T>(source);
}
template <BitSink W, Scalar T, class B>
void write_shape(W& sink, plain<T, B> const&) {
    put_kind(sink, kind::plain);
}
template <Scalar T, class B>
double bits_as_paper(plain<T, B> const& m) {
    return 8.0 * sizeof(T) * static_cast<double>(m.values.size());
}

}  // namespace laconic
