// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "laconic/collective/session.hpp"
#include "laconic/comm/communicator.hpp"
#include "laconic/core/size.hpp"
#include "laconic/wire/number.hpp"
#include "laconic/wire/stream.hpp"

namespace laconic::detail {

// The `length` coordinates from `first` on, in pieces, at least one: one is added up while the next is on its way.
template <Scalar T>
struct in_pieces {
    static constexpr std::size_t longest = longest_piece / sizeof(T);
    std::size_t first, length;

    std::size_t count() const { return std::max<std::size_t>(1, (length + longest - 1) / longest); }
    // f(first, length) for piece p.
    void visit(std::size_t p, auto f) const { f(first + p * longest, std::min(longest, length - p * longest)); }
    void each(auto f) const {
        for (std::size_t p = 0; p < count(); ++p) visit(p, f);
    }
};

// Who sends pieces and receives others by turns has sent at most so many more than it has received, as long as there is
// something to receive. What a quick rank sent to its next partner would take its share of the link through which that
// one still receives its last, who then were late as well.
inline constexpr std::size_t pieces_ahead = 8;

// Calls send(first, length) and receive(first, length) for each piece.
template <Scalar T, class Send, class Receive>
void by_turns(in_pieces<T> sent, in_pieces<T> received, Send send, Receive receive) {
    for (std::size_t p = 0; p < std::max(sent.count(), received.count() + pieces_ahead); ++p) {
        if (p >= pieces_ahead && p - pieces_ahead < received.count()) received.visit(p - pieces_ahead, receive);
        if (p < sent.count()) sent.visit(p, send);
    }
}

// What adds numbers that it reads to x.
template <Scalar T>
void add_numbers(wire::bit_reader& source, std::span<T> x) {
    std::array<T, 1024> some;
    for (std::size_t first = 0; first < x.size(); first += some.size()) {
        auto const to = x.subspan(first, std::min(some.size(), x.size() - first));
        auto const read = std::span(some).first(to.size());
        take_numbers(source, read);
        for (std::size_t i = 0; i < to.size(); ++i) to[i] += read[i];
    }
}

// Reads a piece of x, n numbers from `first` on, that rank `from` sends: added to what is there, or in its place.
template <class B, PointToPoint C, Scalar T>
void receive_numbers(B& on, C& comm, session& talk, int from, std::span<T> x, std::size_t first, std::size_t n,
                     bool adds) {
    talk.receive(comm, from, [&](wire::bit_reader& source) {
        auto const piece = x.subspan(first, n);
        adds ? add_numbers(source, piece) : take_numbers(source, piece);
        if (adds) talk.check_sum(on, piece, first);
    });
}

/// A power of two by which n finite numbers are multiplied before they, and what `ranks` ranks make of theirs, are
/// added up: the sum is finite, and back in its range only the last step, the same on all ranks, can overflow.
template <Scalar T>
T scale_to_add(std::size_t n, int ranks) {
    return std::ldexp(T(1), -static_cast<int>(std::bit_width(n) + std::bit_width(static_cast<unsigned>(ranks))));
}

/// Lists of terms of one vector, one behind another in the order in which they come, so that they take the memory of
/// all terms together, whatever the length of each. Coordinates are the vector's.
template <Scalar T, OnHost B = host>
class gathered_lists {
  public:
    /// Makes room for this many lists with this many terms in all.
    void reserve(B& on, std::size_t lists, std::size_t terms) {
        ends_.reserve(lists);
        at_.reserve(terms);
        values_.reserve(terms);
        views_.reserve(lists);
        reserve_to_sum<T>(on, lists, terms);
    }
    void clear() {
        ends_.clear();
        at_.clear();
        values_.clear();
    }
    /// Appends a list, about the part of the vector that starts at `first`.
    void append(sparse_sum<T, B> const& list, std::size_t first) {
        auto const before = at_.size();
        at_.insert(at_.end(), list.support().begin(), list.support().end());
        if (first > 0)
            for (std::size_t j = before; j < at_.size(); ++j) at_[j] += static_cast<coordinate>(first);
        values_.insert(values_.end(), list.values().begin(), list.values().end());
        ends_.push_back(at_.size());
    }
    /// sum, whose dimension is set, <- the sum of all lists, added in the order start, start + 1, .. and round to start
    /// - 1.
    void add_up(B& on, std::size_t start, sparse_sum<T, B>& sum) {
        views_.clear();
        for (std::size_t l = 0; l < size(); ++l) views_.push_back((*this)[(start + l) % size()]);
        sum.assign_sum(on, views_);
    }

    std::size_t size() const { return ends_.size(); }
    /// The i-th list; valid until one is appended.
    kernels::listed_terms<T> operator[](std::size_t i) const {
        LACONIC_EXPECTS(i < size());
        auto const begin = i == 0 ? 0 : ends_[i - 1], n = ends_[i] - begin;
        return {std::span(at_).subspan(begin, n), std::span(values_).subspan(begin, n)};
    }

  private:
    std::vector<std::size_t> ends_;
    std::vector<coordinate> at_;
    typename B::template array<T> values_;
    std::vector<kernels::listed_terms<T>> views_;
};

/// Reads a list of `length` coordinates into `piece`, and appends it to `to`, whose coordinates are counted from
/// `first` there.
template <class B, Scalar T>
void read_and_append(B& on, wire::bit_reader& source, sparse_sum<T, B>& piece, std::size_t length, auto& to,
                     std::size_t first) {
    piece.expect(length);
    read(on, source, piece);
    to.append(piece, first);
}

/// Every rank has the part of its own number and gets the others' (Bruck et al., IEEE TPDS 8, 1997): in each step twice
/// as many as before, ceil(log2 P) steps for any P ranks, each part handed to each rank once. send(sink) writes this
/// rank's part, and receive(source, p) reads part p. What is received is handed on to the bit as it came, so that a
/// part is encoded by its own rank only; its encoding must not depend on where in a message it stands.
void all_gather_by(PointToPoint auto& comm, session& talk, auto send, auto receive) {
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

/// The same with parts of any type that has write and read, one for each rank, which a compressor may have made blank.
/// They have their dimensions before.
template <class B, PointToPoint C, class Part>
void all_gather_parts(B& on, C& comm, session& talk, std::vector<Part>& parts, auto const&... compressor) {
    all_gather_by(
        comm, talk, [&](wire::bit_writer& sink) { write(sink, parts[static_cast<std::size_t>(comm.rank())]); },
        [&](wire::bit_reader& source, std::size_t p) { read(on, source, parts[p], compressor...); });
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
            read_and_append(on, source, piece, length(me), lists, 0);
        });
    }
    if (talk.failed()) return;
    lists.add_up(on, 0, mine);
    talk.check_sum(on, mine, [&](std::uint64_t i) { return parts.first(me) + i; });
}
/// The same in a round that begins here, of equal parts and without more. Makes the room that ranks with as many terms
/// need in any round.
template <class B, PointToPoint C, Scalar T>
void split_and_add(B& on, C& comm, session& talk, partition const& parts, sparse_sum<T, B>& v, sum_round const& round,
                   sparse_sum<T, B>& mine, sparse_sum<T, B>& piece, gathered_lists<T, B>& lists) {
    auto const most = most_terms_of_sum(v, parts.d, parts.parts);
    talk.make_room<T>(most + parts.parts);
    for (auto* const list : {&mine, &piece}) list->reserve(on, std::min(most, parts.d / parts.parts + 1));
    lists.reserve(on, parts.parts, most);
    v.reserve(on, most);
    talk.start(on, comm, round, v, parts.d);
    split_and_add(on, comm, talk, parts, v, mine, piece, lists, no_calls{}, no_calls{});
}

}  // namespace laconic::detail
