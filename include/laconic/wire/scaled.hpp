// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "laconic/message/scaled.hpp"
#include "laconic/wire/kind.hpp"
#include "laconic/wire/ledger.hpp"
#include "laconic/wire/number.hpp"

namespace laconic {

/// Writes the message inside: both ends know the factor.
template <BitSink W, class M, Scalar T>
void write(W& sink, scaled<M, T> const& m) {
    write(sink, m.inside);
}
template <class B, BitSource R, class M, Scalar T>
void read(B& on, R& source, scaled<M, T>& m) {
    read(on, source, m.inside);
}
template <BitSink W, class M, Scalar T>
void write_shape(W& sink, scaled<M, T> const& m) {
    put_kind(sink, kind::scaled);
    put_number(sink, m.factor);
    write_shape(sink, m.inside);
}
template <class M, Scalar T>
double bits_as_paper(scaled<M, T> const& m) {
    return bits_as_paper(m.inside);
}

}  // namespace laconic
