// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "laconic/message/full_vector.hpp"
#include "laconic/wire/kind.hpp"
#include "laconic/wire/number.hpp"

namespace laconic {

/// Writes the numbers in full: 32 or 64 bits each.
template <BitSink W, Scalar T, class B>
void write(W& sink, full_vector<T, B> const& m) {
    charge(sink, part::values);
    put_numbers(sink, m.values);
}
template <class B, BitSource R, Scalar T>
void read(B&, R& source, full_vector<T, B>& m) {
    take_numbers(source, m.values);
}
template <BitSink W, Scalar T, class B>
void write_shape(W& sink, full_vector<T, B> const&) {
    put_kind(sink, kind::plain);
}
template <Scalar T, class B>
double bits_as_paper(full_vector<T, B> const& m) {
    return 8.0 * sizeof(T) * static_cast<double>(m.values.size());
}

}  // namespace laconic
