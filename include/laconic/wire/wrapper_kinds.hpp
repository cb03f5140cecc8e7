// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "laconic/message/wrappers.hpp"
#include "laconic/wire/shape.hpp"

/// The messages that have others inside, except for sparse ones: their encodings, and the descriptions of their kinds.
namespace laconic::wire {

/// A message times a factor of at most 1, which is a T. Both ends know the factor.
struct scaled_kind {
    static constexpr message_kind number{33};
    static constexpr follow next = follow::one_shape;

    static void put(auto& sink, auto const& m) { write(sink, m.inside); }
    static void take(auto& on, auto& source, auto& m, auto const& c) { read(on, source, m.inside, c.inside); }
    static void put_parameters(auto& sink, auto const& m) {
        put_number(sink, m.factor);
        write_shape(sink, m.inside);
    }
    template <Scalar T>
    static void take_parameters(bit_reader& source, stage& s) {
        s.factor = static_cast<double>(take_magnitude<T>(source, "factor"));
        if (!(s.factor <= 1)) source.refuse("a factor above 1");
    }
    template <Scalar T, class B, class Reader, class Out>
    static void unpack(Reader& reader, stage const& s, std::uint64_t n, Out& out) {
        reader.next_stage(n, out);
        reader.work(out.values.size());
        for (double& v : out.values) v = static_cast<double>(static_cast<T>(v) * static_cast<T>(s.factor));
    }
    static double as_paper(auto const& m) { return bits_as_paper(m.inside); }
};
template <class M, Scalar T>
inline constexpr scaled_kind kind_of<messages::scaled<M, T>>{};

/// Messages about consecutive parts of a vector, one after another, with nothing between them: how many there are.
struct parts_kind {
    static constexpr message_kind number{34};
    static constexpr follow next = follow::a_shape_for_each;

    static void put(auto& sink, auto const& m) {
        for (auto const& one : m.each) write(sink, one);
    }
    /// Refuses parts whose lengths do not add up to the vector's.
    static void take(auto& on, auto& source, auto& m, auto const& c) {
        std::size_t sum = 0;
        for (auto const& one : m.each) sum += one.dimension();
        if (sum != m.count)
            source.refuse(detail::text_pieces{"parts of ", sum, " numbers in all do not make ", m.count});
        for (std::size_t i = 0; i < m.each.size(); ++i) read(on, source, m.each[i], c.pieces[i].compressor);
    }
    /// The number of parts, then of each its length and its shape.
    static void put_parameters(auto& sink, auto const& m) {
        put_whole(sink, m.each.size());
        for (auto const& one : m.each) {
            put_whole(sink, one.dimension());
            write_shape(sink, one);
        }
    }
    template <Scalar T>
    static void take_parameters(bit_reader& source, stage& s) {
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
    static double as_paper(auto const& m) {
        double sum = 0;
        for (auto const& one : m.each) sum += bits_as_paper(one);
        return sum;
    }
};
template <class M>
inline constexpr parts_kind kind_of<messages::parts_of<M>>{};

/// A message at one of so many levels; at an unknown number of them, where it is 0. The level, in as many bits as the
/// number of levels takes, then the message at that level.
struct levelled_kind {
    static constexpr message_kind number{35};
    static constexpr follow next = follow::one_shape;

    static void put(auto& sink, auto const& m) {
        if (m.levels > 0) {
            sink.charge(message_part::header);
            sink.put(m.level - 1, detail::width_of(m.levels));
        }
        write(sink, m.inside);
    }
    static void take(auto& on, auto& source, auto& m, auto const& c) {
        if (m.levels > 0) {
            m.level = static_cast<std::size_t>(source.take(detail::width_of(m.levels))) + 1;
            if (m.level > m.levels) source.refuse("a level above the highest");
        }
        auto const at_level = c.at(m.level, m.length);
        at_level.blank(on, m.length, m.from, m.inside);
        read(on, source, m.inside, at_level);
    }
    static void put_parameters(auto& sink, auto const& m) {
        put_whole(sink, m.levels);
        write_shape(sink, m.inside);
    }
    template <Scalar T>
    static void take_parameters(bit_reader& source, stage& s) {
        s.first = take_between(source, 0, longest_support);
    }
    template <Scalar T, class B, class Reader, class Out>
    static void unpack(Reader& reader, stage const& s, std::uint64_t n, Out& out) {
        if (s.first > 0 && reader.source().take(detail::width_of(s.first)) >= s.first)
            reader.refuse("a level above the highest");
        reader.next_stage(n, out);
    }
    /// Papers do not count how the receiver learns the level.
    static double as_paper(auto const& m) { return bits_as_paper(m.inside); }
};
template <class Work, class M>
inline constexpr levelled_kind kind_of<messages::levelled<Work, M>>{};

}  // namespace laconic::wire

namespace laconic::messages {

/// Writes the message that is chosen, in its own encoding: both ends know which. Its self-describing form is that
/// message's.
template <wire::BitSink W, class First, class Second>
void write(W& sink, either<First, Second> const& m) {
    m.is_first ? write(sink, m.first) : write(sink, m.second);
}
template <class B, class First, class Second, class C>
void read(B& on, wire::bit_reader& source, either<First, Second>& m, C const& c) {
    m.is_first ? read(on, source, m.first, c.first) : read(on, source, m.second, c.second);
}
template <wire::BitSink W, class First, class Second>
void write_shape(W& sink, either<First, Second> const& m) {
    m.is_first ? write_shape(sink, m.first) : write_shape(sink, m.second);
}
template <class First, class Second>
double bits_as_paper(either<First, Second> const& m) {
    return m.is_first ? bits_as_paper(m.first) : bits_as_paper(m.second);
}

}  // namespace laconic::messages
