// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "laconic/message/levelled.hpp"
#include "laconic/wire/kind.hpp"
#include "laconic/wire/ledger.hpp"
#include "laconic/wire/stream.hpp"

namespace laconic {

/// Writes the level, in as many bits as the number of levels takes, then the message at that level.
template <BitSink W, class C, class M>
void write(W& sink, levelled<C, M> const& m) {
    if (m.levels > 0) {
        charge(sink, part::header);
        sink.put(m.level - 1, width_of(m.levels));
    }
    write(sink, m.inside);
}
template <class B, BitSource R, class C, class M>
void read(B& on, R& source, levelled<C, M>& m) {
    if (m.levels > 0) {
        auto const level = source.take(width_of(m.levels)) + 1;
        if (level > m.levels) source.refuse("a level above the highest");
        m.level = static_cast<std::size_t>(level);
    }
    m.compressor.blank_at(on, m.level, m.length, m.from, m.inside);
    read(on, source, m.inside);
}

/// Writes the number of levels, then the shape of the message at this one.
template <BitSink W, class C, class M>
void write_shape(W& sink, levelled<C, M> const& m) {
    put_kind(sink, kind::levelled);
    put_whole(sink, m.levels);
    write_shape(sink, m.inside);
}

/// Counts the message inside only: papers do not count how the receiver learns the level.
template <class C, class M>
double bits_as_paper(levelled<C, M> const& m) {
    return bits_as_paper(m.inside);
}

}  // namespace laconic
