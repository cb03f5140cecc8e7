// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "laconic/collective/session.hpp"
#include "laconic/collective/terms/gathered_lists.hpp"

namespace laconic::detail {

/// Each rank hands to every other the part of v that the other adds up: mine <- the sum of the part of this rank's
/// number, in the order of ranks. Parts::first(p) is where part p of P starts, first(P) = d. P - 1 messages, to the
/// next rank first, so that no rank receives all others at once. In front of a part stands what send(sink, p) writes
/// for rank p, and receive(source, r) reads. `piece` and `lists` are scratch: all lists are there before they are added
/// up, at once.
template <class B, PointToPoint C, class Parts, Scalar T, class Send, class Receive>
void split_and_add(B& on, C& comm, session& talk, Parts const& parts, sparse_sum<T, B> const& v, sparse_sum<T, B>& mine,
                   sparse_sum<T, B>& piece, gathered_lists<T, B>& lists, Send send, Receive receive) {
    auto const n = static_cast<std::size_t>(comm.size()), me = static_cast<std::size_t>(comm.rank());
    auto const length = [&](std::size_t p) { return parts.first(p + 1) - parts.first(p); };
    mine.reset(length(me));
    lists.clear();
    // All that is for others is under way before any of theirs is awaited: so they can be received in their order.
    for (std::size_t step = 1; step < n; ++step)
        talk.send(comm, static_cast<int>((me + step) % n), [&](wire::bit_writer& sink) {
            std::size_t const p = (me + step) % n;
            piece.assign_part(v, parts.first(p), length(p));
            send(sink, p);
            write(sink, piece);
        });
    for (std::size_t r = 0; r < n; ++r) {
        if (r == me && !talk.failed()) {
            piece.assign_part(v, parts.first(me), length(me));
            lists.append(piece, 0);
        }
        if (r == me) continue;
        talk.receive(comm, static_cast<int>(r), [&](wire::bit_reader& source) {
            receive(source, r);
            piece.expect(length(me));
            read(on, source, piece);
            lists.append(piece, 0);
        });
    }
    if (talk.failed()) return;
    lists.add_up(on, 0, mine);
    talk.check_sum(on, mine, [&](std::uint64_t i) { return parts.first(me) + i; });
}
template <class B, PointToPoint C, class Parts, Scalar T>
void split_and_add(B& on, C& comm, session& talk, Parts const& parts, sparse_sum<T, B> const& v, sparse_sum<T, B>& mine,
                   sparse_sum<T, B>& piece, gathered_lists<T, B>& lists) {
    split_and_add(
        on, comm, talk, parts, v, mine, piece, lists, [](wire::bit_writer&, std::size_t) {},
        [](wire::bit_reader&, std::size_t) {});
}

}  // namespace laconic::detail
