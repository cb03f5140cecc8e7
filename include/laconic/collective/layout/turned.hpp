// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "laconic/collective/sparse/bruck.hpp"

namespace laconic::detail {

/// The parts of a vector as rank `me` counts them: its own first, then those of me + 1, me + 2, .., round to me - 1.
/// Coordinates are counted from where its own starts. So what a rank of a ring receives together lies together, and one
/// list holds all parts, whose sizes are not known before. Parts::first(p) is where part p of `ranks` starts.
template <class Parts>
struct turned {
    Parts const* parts;
    std::size_t d, ranks, me;

    std::size_t origin() const { return parts->first(me); }
    /// Where the j-th part from me on starts; j = ranks gives d.
    std::size_t first(std::size_t j) const {
        auto const p = me + j;
        return p < ranks ? parts->first(p) - origin() : d - origin() + parts->first(p - ranks);
    }
    std::size_t length(std::size_t j) const { return first(j + 1) - first(j); }
};
template <class Parts>
turned(Parts const*, std::size_t, std::size_t, std::size_t) -> turned<Parts>;

/// out_i <- v_{(origin + i) mod d}; d - origin in place of origin undoes it.
template <Scalar T, class B>
void turn(sparse_sum<T, B> const& v, std::size_t origin, sparse_sum<T, B>& out) {
    auto const at = v.support();
    auto const values = v.values();
    auto const middle = v.count_below(origin);
    out.reset(v.dimension());
    out.append(at.subspan(middle), values.subspan(middle), std::size_t{0} - origin);
    out.append(at.first(middle), values.first(middle), v.dimension() - origin);
}

/// all_gather_by, with all parts in one list: `held` in turned order has this rank's own part, and then the others'
/// behind it. `piece` is scratch.
template <class B, PointToPoint C, class Parts, Scalar T>
void all_gather_turned(B& on, C& comm, session& talk, turned<Parts> const& order, sparse_sum<T, B>& held,
                       sparse_sum<T, B>& piece) {
    auto const place = [&](std::size_t p) { return p < order.me ? p + order.ranks - order.me : p - order.me; };
    all_gather_by(
        comm, talk,
        [&](wire::bit_writer& sink) {
            piece.assign_part(held, 0, order.length(0));
            write(sink, piece);
        },
        [&](wire::bit_reader& source, std::size_t p) {
            piece.expect(order.length(place(p)));
            read(on, source, piece);
            held.append(piece, order.first(place(p)));
        });
}

}  // namespace laconic::detail
