// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "laconic/core/text.hpp"
#include "laconic/message/parts.hpp"
#include "laconic/wire/kind.hpp"
#include "laconic/wire/ledger.hpp"
#include "laconic/wire/shape.hpp"

namespace laconic::messages {

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

}  // namespace laconic::messages

namespace laconic::wire {

/// Messages about consecutive parts of a vector: how many there are.
struct parts_kind {
    static constexpr message_kind number{34};
    static constexpr follow next = follow::a_shape_for_each;
    template <Scalar T, BitSource R>
    static void take(R& source, stage& s) {
        s.first = take_between(source, 0, most_stages);
    }
    /// Coordinates are listed once a part lists its own.
    template <Scalar T, class B, class Reader, class Out>
    static void unpack(Reader& reader, stage const& s, std::uint64_t n, Out& out) {
        std::uint64_t begin = 0;
        for (auto left = s.first; left > 0; --left) {
            auto const length = reader.length_of_part();
            if (length > n - begin) reader.refuse("parts of more numbers than there are");
            Out one;
            reader.next_stage(length, one);
            reader.spend(one.values.size(), 32);
            reader.work(one.values.size());
            if (out.dense && !one.dense)
                for (std::uint64_t j = 0; j < begin; ++j) out.at.push_back(j);
            out.dense = out.dense && one.dense;
            for (std::size_t j = 0; j < one.values.size() && !out.dense; ++j)
                out.at.push_back(begin + (one.dense ? j : one.at[j]));
            out.values.insert(out.values.end(), one.values.begin(), one.values.end());
            begin += length;
        }
        if (begin != n) reader.refuse("parts of fewer numbers than there are");
    }
};

}  // namespace laconic::wire

namespace laconic::messages {

/// Writes the number of parts, then of each its length and its shape.
template <BitSink W, class M>
void write_shape(W& sink, parts_of<M> const& m) {
    put_kind(sink, parts_kind::number);
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

}  // namespace laconic::messages
