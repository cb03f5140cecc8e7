// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "laconic/collective/layout/pieces.hpp"
#include "laconic/collective/session.hpp"
#include "laconic/collective/terms/gathered_lists.hpp"
#include "laconic/core/partition.hpp"

namespace laconic::detail {

/// Every rank has the part of its own number and gets the others' (Bruck et al., IEEE TPDS 8, 1997): in each step twice
/// as many as before, ceil(log2 P) steps for any P ranks, each part handed to each rank once. send(sink) writes this
/// rank's part, and receive(source, p) reads part p. What is received is handed on to the bit as it came, so that a
/// part is encoded by its own rank only; its encoding must not depend on where in a message it stands.
template <PointToPoint C, class Send, class Receive>
void all_gather_by(C& comm, session& talk, Send send, Receive receive) {
    auto const n = static_cast<std::size_t>(comm.size()), me = static_cast<std::size_t>(comm.rank());
    if (n == 1) return;
    std::size_t const last_distance = std::bit_ceil(n) / 2, last_count = n - last_distance;
    wire::bit_writer& parts = talk.encode(send);  // so far, from this rank's on
    std::uint64_t last_bits = parts.bits();
    for (std::size_t distance = 1; distance < n; distance *= 2) {
        bool const is_last = distance == last_distance;
        if (is_last) parts.cut(last_bits);
        std::size_t const count = is_last ? last_count : distance;
        talk.exchange_bytes(comm, static_cast<int>((me + n - distance) % n), parts.so_far(),
                            static_cast<int>((me + distance) % n), [&](wire::bit_reader& source) {
                                auto bits = last_bits;
                                for (std::size_t j = distance; j < distance + count; ++j) {
                                    receive(source, (me + j) % n);
                                    if (j < last_count) bits = parts.bits() + source.at();
                                }
                                if (is_last) return;
                                parts.put_bits(source.bytes(), source.at());
                                last_bits = bits;
                            });
    }
}

/// The same with parts of any type that has write and read, one for each rank. They have their dimensions before.
template <class B, PointToPoint C, class Part>
void all_gather_parts(B& on, C& comm, session& talk, std::vector<Part>& parts) {
    all_gather_by(
        comm, talk, [&](wire::bit_writer& sink) { write(sink, parts[static_cast<std::size_t>(comm.rank())]); },
        [&](wire::bit_reader& source, std::size_t p) { read(on, source, parts[p]); });
}

/// The same with numbers in full: parts of x, which come to where they belong. What has more than 64 000 bytes goes in
/// pieces of so many.
template <PointToPoint C, Scalar T>
void all_gather_numbers(C& comm, session& talk, detail::partition const& parts, std::span<T> x) {
    std::size_t const n = parts.parts, d = parts.d, me = static_cast<std::size_t>(comm.rank());
    // The first part comes again behind the last: d + i is coordinate i.
    auto const run = [&](std::size_t p, std::size_t count) {
        auto const start = [&](std::size_t q) { return parts.first(q % n) + q / n * d; };
        return in_pieces<T>{start(p), start(p + count) - start(p)};
    };
    auto const up_to_end = [&](std::size_t at, std::size_t length) {
        return at < d ? x.subspan(at, std::min(length, d - at)) : x.subspan(at - d, length);
    };
    for (std::size_t distance = 1; distance < n; distance *= 2) {
        std::size_t const count = std::min(distance, n - distance);
        int const to = static_cast<int>((me + n - distance) % n), from = static_cast<int>((me + distance) % n);
        by_turns(
            run(me, count), run(me + distance, count),
            [&](std::size_t at, std::size_t length) {
                auto const here = up_to_end(at, length);
                if (here.size() == length) return talk.send_numbers(comm, to, here, 0, length);
                talk.send(comm, to, [&](wire::bit_writer& sink) {
                    put_numbers(sink, here);
                    put_numbers(sink, x.first(length - here.size()));
                });
            },
            [&](std::size_t at, std::size_t length) {
                auto const here = up_to_end(at, length);
                talk.receive(comm, from, [&](wire::bit_reader& source) {
                    take_numbers(source, here);
                    take_numbers(source, x.first(length - here.size()));
                });
            });
    }
}

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
