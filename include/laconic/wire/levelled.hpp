// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "laconic/message/levelled.hpp"
#include "laconic/wire/kind.hpp"
#include "laconic/wire/ledger.hpp"
#include "laconic/wire/shape.hpp"
#include "laconic/wire/stream.hpp"

namespace laconic::messages {

/// Writes the level, in as many bits as the number of levels takes, then the message at that level.
template <BitSink W, class C, class M>
void write(W& sink, levelled<C, M> const& m) {
    if (m.levels > 0) {
        charge(sink, message_part::header);
        sink.put(m.level - 1, detail::width_of(m.levels));
    }
    write(sink, m.inside);
}
template <class B, BitSource R, class C, class M>
void read(B& on, R& source, levelled<C, M>& m) {
    if (m.levels > 0) {
        auto const level = source.take(detail::width_of(m.levels)) + 1;
        if (level > m.levels) source.refuse("a level above the highest");
        m.level = static_cast<std::size_t>(level);
    }
    m.compressor.blank_at(on, m.level, m.length, m.from, m.inside);
    read(on, source, m.inside);
}

}  // namespace laconic::messages

namespace laconic::wire {

/// A message at one of so many levels; at an unknown number of them, where it is 0.
struct levelled_kind {
    static constexpr message_kind number{35};
    static constexpr follow next = follow::one_shape;
    template <Scalar T, BitSource R>
    static void take(R& source, stage& s) {
        s.first = take_between(source, 0, longest_support);
    }
    template <Scalar T, class B, class Reader, class Out>
    static void unpack(Reader& reader, stage const& s, std::uint64_t n, Out& out) {
        if (s.first > 0 && reader.source().take(detail::width_of(s.first)) >= s.first)
            reader.refuse("a level above the highest");
        reader.next_stage(n, out);
    }
};

}  // namespace laconic::wire

namespace laconic::messages {

/// Writes the number of levels, then the shape of the message at this one.
template <BitSink W, class C, class M>
void write_shape(W& sink, levelled<C, M> const& m) {
    put_kind(sink, levelled_kind::number);
    put_whole(sink, m.levels);
    write_shape(sink, m.inside);
}

/// Counts the message inside only: papers do not count how the receiver learns the level.
template <class C, class M>
double bits_as_paper(levelled<C, M> const& m) {
    return bits_as_paper(m.inside);
}

}  // namespace laconic::messages
