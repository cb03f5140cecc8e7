// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "laconic/message/either.hpp"
#include "laconic/wire/kind.hpp"
#include "laconic/wire/ledger.hpp"

namespace laconic::messages {

/// Writes the message that is chosen, in its own encoding: both ends know which. Its self-describing form is that
/// message's.
template <BitSink W, class First, class Second>
void write(W& sink, either<First, Second> const& m) {
    m.is_first ? write(sink, m.first) : write(sink, m.second);
}
template <class B, BitSource R, class First, class Second>
void read(B& on, R& source, either<First, Second>& m) {
    m.is_first ? read(on, source, m.first) : read(on, source, m.second);
}
template <BitSink W, class First, class Second>
void write_shape(W& sink, either<First, Second> const& m) {
    m.is_first ? write_shape(sink, m.first) : write_shape(sink, m.second);
}
template <class First, class Second>
double bits_as_paper(either<First, Second> const& m) {
    return m.is_first ? bits_as_paper(m.first) : bits_as_paper(m.second);
}

}  // namespace laconic::messages
