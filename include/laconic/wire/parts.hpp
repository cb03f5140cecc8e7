// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>

#include "laconic/core/text.hpp"
#include "laconic/message/parts.hpp"
#include "laconic/wire/kind.hpp"
#include "laconic/wire/ledger.hpp"

namespace laconic {

/// Writes the parts' messages one after another, with nothing between them.
template <BitSink W, class M>
void write(W& sink, parts_of<M> const& m) {
    for (auto const& one : m.each) write(sink, one);
}
/// Refuses parts whose lengths do not add up to the vector's.
template <class B, BitSource R, class M>
void read(B& on, R& source, parts_of<M>& m) {
    std::size_t sum = 0;
    for (auto const& one : m.each) sum += one.dimension();
    if (sum != m.count)
        source.refuse(detail::concat(detail::text_pieces{"parts of ", sum, " numbers in all do not make ", m.count}));
    for (auto& one : m.each) read(on, source, one);
}
/// Writes the number of parts, then of each its length and its shape.
template <BitSink W, class M>
void write_shape(W& sink, parts_of<M> const& m) {
    put_kind(sink, kind::parts);
    put_whole(sink, m.each.size());
    for (auto const& one : m.each) {
        put_whole(sink, one.dimension());
        write_shape(sink, one);
    }
}
template <class M>
double bits_as_paper(parts_of<M> const& m) {
    double sum = 0;
    for (auto const& one : m.each) sum += bits_as_paper(one);
    return sum;
}

}  // namespace laconic
