// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

#include "laconic/message/sparse.hpp"
#include "laconic/wire/kind.hpp"
#include "laconic/wire/ledger.hpp"
#include "laconic/wire/support.hpp"

namespace laconic {

/// Writes the part of the support that the receiver does not have, then the payload.
template <BitSink W, class Rest, support_is Known, Scalar T, class B, class Unit>
void write(W& sink, sparse<Rest, Known, T, B, Unit> const& m) {
    if constexpr (Known == support_is::told) {
        charge(sink, part::header);
        sink.put(m.support.size(), width_of(std::uint64_t{m.places()} + 1));
    }
    if constexpr (Known != support_is::agreed) write_support(sink, m.places(), std::span<coordinate const>(m.support));
    charge(sink, part::values);
    write(sink, m.payload);
}
template <class B, BitSource R, class Rest, support_is Known, Scalar T, class Unit>
void read(B& on, R& source, sparse<Rest, Known, T, B, Unit>& m) {
    if constexpr (Known == support_is::told) {
        auto const count = source.take(width_of(std::uint64_t{m.places()} + 1));
        if (count > m.places()) source.refuse("more coordinates than the vector has");
        m.support.resize(static_cast<std::size_t>(count));
    }
    if constexpr (Known != support_is::agreed) {
        read_support(source, m.places(), std::span<coordinate>(m.support));
        m.expect_payload(on);
    }
    read(on, source, m.payload);
}

/// Writes the length of a unit, what determines the support, and the shape of the payload.
template <BitSink W, class Rest, support_is Known, Scalar T, class B, class Unit>
void write_shape(W& sink, sparse<Rest, Known, T, B, Unit> const& m) {
    put_kind(sink, Known == support_is::told      ? kind::told
                   : Known == support_is::counted ? kind::counted
                                                  : kind::agreed);
    put_length(sink, m.unit.length, m.length);
    if constexpr (Known == support_is::counted) put_whole(sink, m.support.size());
    if constexpr (Known == support_is::agreed) {
        sink.put(static_cast<std::uint64_t>(m.drawn.how), 8);
        if (m.drawn.how == draw_method::exactly)
            put_whole(sink, m.drawn.count);
        else
            sink.put(std::bit_cast<std::uint64_t>(m.drawn.p), 64);
        sink.put(m.drawn.from.bits, 64);
    }
    write_shape(sink, m.payload);
}

/// Counts ceil(log2 d) bits for each position that is not agreed, and nothing for their count (Khirirat et al., CAT).
template <class Rest, support_is Known, Scalar T, class B, class Unit>
double bits_as_paper(sparse<Rest, Known, T, B, Unit> const& m) {
    double const position = Known == support_is::agreed ? 0 : width_of(m.places());
    return position * static_cast<double>(m.support.size()) + bits_as_paper(m.payload);
}

}  // namespace laconic
