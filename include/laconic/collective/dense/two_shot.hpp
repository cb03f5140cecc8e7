// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <span>

#include "laconic/collective/collective.hpp"
#include "laconic/collective/parts.hpp"
#include "laconic/compress/short_float.hpp"
#include "laconic/wire/plain_kinds.hpp"

namespace laconic {

/// The sum of dense vectors whose numbers travel compressed, by a two-shot all-reduce (torchft's fp8 rows, ZeRO++'s 4
/// bits, CGX). Each rank sends C's message about part p of its vector to rank p. Rank p decodes and adds up the parts
/// in the order of ranks, in T, and sends C's message about their mean to all. All ranks, p too, decode the same bytes,
/// and so get the same bits. Each rank sends 2 (P - 1) messages, of 2 (P - 1) / P d b bits in all if C takes b bits a
/// number: with 16 bits half of the bytes of a ring of floats. Any P, any d. Parts of more than 64 000 bytes travel in
/// pieces of that size, each a message of its own, so that one is added up while the next are on their way.
///
/// With an unbiased C the sum is unbiased, and the variance of the mean of n ranks is at most omega (1 + (1 + omega) /
/// n) times the mean of |x_i|^2. What rounding leaves out is returned: that of the first message to the rank that
/// rounded, that of the second to the rank that added up. So the sum of what the ranks bring = what is applied + the
/// sum of what is returned, up to rounding in T. A number beyond the largest one of C's format is an error.
///
/// With `ring`, each part goes round instead (PrimeIntellect's pccl): rank p sends C's message about its part p, each
/// rank adds its own part to what it decodes and sends a message about that sum, and the last one's message goes round
/// to all. As many bytes, in 2 (P - 1) messages one after another, each to one neighbour. What each message leaves out
/// returns to the rank that made it. Sums are rounded P times: where the ranks' vectors are independent and of one
/// size, the variance of the mean is about omega (P + 1) / 2 times |mean|^2 in place of 2 omega, so it suits few ranks
/// or 8 bits.
///
/// With `owner_keeps`, rank p keeps what its second message leaves out and adds it to the next mean of its part, in
/// place of returning it times P (1-bit Adam, 0/1 Adam): memory d / P. What it adds biases each sum, with any C. Over
/// other ranks it begins at 0. A ring cannot have it.
template <class C = bf16::random>
struct two_shot {
    C compressor = by_default();
    std::uint64_t seed = 0;
    bool ring = false;
    bool owner_keeps = false;

    static constexpr void description(auto&& describe) {
        describe("two_shot", "dense, compressed: each part to the rank that adds it up, and the means to all",
                 "torchft, ZeRO++, CGX; 1-bit and 0/1 Adam", field("compressor", &two_shot::compressor).written(),
                 field("seed", &two_shot::seed), field("ring", &two_shot::ring),
                 field("owner_keeps", &two_shot::owner_keeps));
    }
    /// Throws argument_error, too, for a ring with owner_keeps.
    void check(std::size_t d) const {
        if (ring && owner_keeps) throw argument_error("two_shot: around a ring nobody owns a part: not owner_keeps");
        compressor.check(d);
    }
    /// All that the sum leaves out is its rounding.
    detail::sum_rounding rounding() const {
        return {true, is_unbiased(compressor) && !owner_keeps, is_contractive(compressor)};
    }
    template <Scalar T, OnHost B = host>
    requires Compressor<C, T, B>
    class adder;
    bool operator==(two_shot const&) const = default;

  private:
    static C by_default() {
        if constexpr (std::convertible_to<bf16::random, C>)
            return bf16::random{};
        else
            return C{};
    }
};
template <class C>
two_shot(C, std::uint64_t = 0, bool = false, bool = false) -> two_shot<C>;

template <class C>
template <Scalar T, OnHost B>
requires Compressor<C, T, B>
class two_shot<C>::adder : detail::sum_in_session {
    using pieces = detail::in_pieces<T>;

  public:
    adder(two_shot const& how, std::size_t d, position_code positions)
        : sum_in_session(how, d, positions),
          compressor_(how.compressor),
          from_{how.seed},
          ring_(how.ring),
          owner_keeps_(how.owner_keeps) {
        sum_.resize(std::min(d, pieces::longest));
        mean_.resize(sum_.size());
        session_.make_room<T>(sum_.size());
    }

    /// x <- the sum. Throws argument_error, too, where the compressor does not suit the pieces of a part, and
    /// compression_error where it has no message about one. After an error leftover() is unspecified.
    void operator()(B& on, PointToPoint auto& comm, std::span<T> x, sum_round round = {}) {
        start(on, comm, x, round);
        if (owner_keeps_) {
            detail::partition const parts{d_, static_cast<std::size_t>(comm.size())};
            auto const own = parts.length(static_cast<std::size_t>(comm.rank()));
            owned_.resize(own), next_owned_.resize(own);
        }
        ring_ ? go_round(on, comm, x) : send_to_owners(on, comm, x, true);
        session_.finish();
    }
    /// The part of x that has this rank's number <- that part of the sum, by the first messages alone; this rank's own
    /// numbers are added as they are. P - 1 messages, and a collective call of no bytes, by which all ranks throw the
    /// same. leftover() is what this rank's messages left out. Around a ring it is the whole sum. After it the rest of
    /// x is unspecified.
    void reduce_scatter(B& on, PointToPoint auto& comm, std::span<T> x, sum_round const& round = {}) {
        if (ring_) return (*this)(on, comm, x, round);
        start(on, comm, x, round);
        send_to_owners(on, comm, x, false);
        session_.share_failure(comm);
        session_.finish();
    }

    /// What this rank keeps, to be sent later: what its own messages left out, and of its part the mean's. Unspecified
    /// after a sum whose `keeps_leftover` was false.
    std::span<T const> leftover() const { return left_; }
    /// With owner_keeps: what the last sum's second message left out counts from now on, and is the state.
    void commit() { owned_.swap(next_owned_); }
    void state(auto& archive) {
        if (owner_keeps_) archive.of_any_length(owned_);
    }

  private:
    void start(B& on, auto& comm, std::span<T> x, sum_round const& round) {
        auto const n = static_cast<std::size_t>(comm.size());
        detail::partition const parts{d_, n};
        for (std::size_t p = 0; p < n; ++p)
            pieces{parts.first(p), parts.length(p)}.each(
                [&](std::size_t, std::size_t length) { compressor_.check(length); });
        session_.start(on, comm, round, x, d_);
        round_ = from_.child(round.number);
        keeps_ = round.keeps_leftover;
        if (keeps_) left_.resize(d_);
    }
    // The second messages are sent where all ranks are to have the whole sum.
    void send_to_owners(B& on, auto& comm, std::span<T> x, bool whole) {
        auto const n = static_cast<std::size_t>(comm.size()), me = static_cast<std::size_t>(comm.rank());
        detail::partition const parts{d_, n};
        auto const of_part = [&](std::size_t p) { return pieces{parts.first(p), parts.length(p)}; };
        auto const other = [&](std::size_t step) { return (me + step) % n; };
        std::size_t most = 0;
        for (std::size_t p = 0; p < n; ++p) most = std::max(most, of_part(p).count());
        // Both shots of a piece stand `ahead` steps apart, as do what is sent and received of each: so each rank
        // receives from another in the order in which that one sends.
        constexpr std::size_t ahead = detail::pieces_ahead;
        for (std::size_t t = 0; t < most + 2 * ahead; ++t) {
            for (std::size_t step = 1; step < n; ++step)
                if (auto const p = other(step); t < of_part(p).count())
                    of_part(p).visit(t, [&](std::size_t at, std::size_t length) {
                        session_.send(comm, static_cast<int>(p), [&](wire::bit_writer& sink) {
                            if (compress(on, comm.rank(), x.subspan(at, length), at, key_of(me, at)))
                                keep_error(on, x.subspan(at, length), at), wire::write_on(on, sink, message_);
                        });
                    });
            if (t >= ahead && t - ahead < of_part(me).count())
                of_part(me).visit(t - ahead, [&](std::size_t at, std::size_t length) {
                    add_up(on, comm, x, at, length, whole);
                    if (!whole) return;
                    auto const bytes =
                        session_.encode([&](wire::bit_writer& sink) { wire::write_on(on, sink, message_); }).finish();
                    for (std::size_t step = 1; step < n; ++step)
                        session_.send_bytes(comm, static_cast<int>(other(step)), bytes);
                });
            for (std::size_t step = 1; step < n && whole && t >= 2 * ahead; ++step)
                if (auto const p = other(n - step); t - 2 * ahead < of_part(p).count())
                    of_part(p).visit(t - 2 * ahead, [&](std::size_t at, std::size_t length) {
                        session_.receive(comm, static_cast<int>(p), [&](wire::bit_reader& source) {
                            read_message(on, source, length, key_of(n, at));
                            set_sum(on, n, theirs_, x.subspan(at, length));
                        });
                    });
        }
    }
    // Sends this rank's part, and then in each of 2 (P - 1) steps receives the part before: in P - 1 steps this rank's
    // numbers are added to it, and the sum is rounded before it is sent; from then on it is the result.
    void go_round(B& on, auto& comm, std::span<T> x) {
        auto const n = static_cast<std::size_t>(comm.size()), me = static_cast<std::size_t>(comm.rank());
        auto const last = (me + n - 1) % n, next = (me + 1) % n;
        detail::partition const parts{d_, n};
        auto const each_piece = [&](std::size_t p, auto f) { pieces{parts.first(p), parts.length(p)}.each(f); };
        // The message about what is added up so far of a piece, of which the last one is about the sum.
        auto const make_message = [&](std::span<T const> sum, std::size_t at, bool is_last) {
            if (!compress(on, comm.rank(), sum, at, key_of(me, at))) return;
            keep_error(on, sum, at);
            if (!is_last) return;
            set_sum(on, 1, message_, x.subspan(at, sum.size()));
            session_.check_sum(on, x.subspan(at, sum.size()), at);
        };
        each_piece(me, [&](std::size_t at, std::size_t length) {
            if (!session_.failed()) make_message(x.subspan(at, length), at, n == 1);
            if (n > 1)
                session_.send(comm, static_cast<int>(next),
                              [&](wire::bit_writer& sink) { wire::write_on(on, sink, message_); });
        });
        for (std::size_t step = 1; step < 2 * n - 1; ++step) {
            std::size_t const p = (me + 2 * n - step) % n;
            bool const adds = step < n;
            each_piece(p, [&](std::size_t at, std::size_t length) {
                session_.receive(comm, static_cast<int>(last), [&](wire::bit_reader& source) {
                    auto const own = x.subspan(at, length), sum = std::span<T>(sum_).first(length);
                    read_message(on, source, length, key_of(adds ? last : (p + n - 1) % n, at));
                    if (!adds) return set_sum(on, 1, theirs_, own);
                    copy(on, std::span<T const>(own), sum);
                    add_message(on, sum, T(1), theirs_);
                    session_.check_sum(on, sum, at);
                    if (!session_.failed()) make_message(sum, at, step == n - 1);
                });
                if (step < 2 * n - 2)
                    session_.send(comm, static_cast<int>(next),
                                  [&](wire::bit_writer& sink) { wire::write_on(on, sink, adds ? message_ : theirs_); });
            });
        }
    }

    // Of the message of a rank, or for n ranks the n-th, of the mean, about the piece that starts here.
    key key_of(std::size_t rank, std::size_t at) const { return round_.child(rank).child(at); }
    // message_ <- that about x, which starts at coordinate `first`. Returns whether there is one.
    bool compress(B& on, int rank, std::span<T const> x, std::size_t first, key from) {
        try {
            detail::require_up_to_largest(on, compressor_, x, first);
            compressor_(on, x, from, message_);
        } catch (std::exception const& e) {
            session_.give_up(rank, e.what());
        }
        return !session_.failed();
    }
    void read_message(B& on, wire::bit_reader& source, std::size_t length, key from) {
        compressor_.blank(on, length, from, theirs_);
        read(on, source, theirs_, compressor_);
    }
    // The part of the leftover from coordinate `first` on <- x less message_.
    void keep_error(B& on, std::span<T const> x, std::size_t first) {
        if (!keeps_) return;
        auto const left = std::span<T>(left_).subspan(first, x.size());
        copy(on, x, left);
        add_message(on, left, T(-1), message_);
    }
    // x <- n times the mean that m is about: the same bits for all, as it is rounded once.
    void set_sum(B& on, std::size_t n, auto const& m, std::span<T> x) {
        fill(on, x, T(0));
        add_message(on, x, static_cast<T>(n), m);
    }
    // A piece of this rank's part: x <- the sum, where all are to have it of the mean that message_ is about.
    void add_up(B& on, auto& comm, std::span<T> all, std::size_t at, std::size_t length, bool whole) {
        auto const n = static_cast<std::size_t>(comm.size()), me = static_cast<std::size_t>(comm.rank());
        auto const sum = std::span<T>(sum_).first(length), mean = std::span<T>(mean_).first(length);
        fill(on, sum, T(0));
        for (std::size_t r = 0; r < n; ++r) {
            if (r != me) {
                session_.receive(comm, static_cast<int>(r), [&](wire::bit_reader& source) {
                    read_message(on, source, length, key_of(r, at));
                    add_message(on, sum, T(1), theirs_);
                });
            } else if (!whole) {
                add_scaled(on, T(1), std::span<T const>(all.subspan(at, length)), sum);
                if (keeps_) fill(on, std::span<T>(left_).subspan(at, length), T(0));
            } else if (!session_.failed() && compress(on, comm.rank(), all.subspan(at, length), at, key_of(me, at))) {
                keep_error(on, all.subspan(at, length), at);
                add_message(on, sum, T(1), message_);
            }
        }
        if (session_.failed()) return;
        session_.check_sum(on, sum, at);
        if (!whole) return copy(on, std::span<T const>(sum), all.subspan(at, length));
        for (std::size_t i = 0; i < length; ++i) mean[i] = sum[i] / static_cast<T>(n);
        std::size_t const first = at - detail::partition{d_, n}.first(me);
        if (owner_keeps_) add_scaled(on, T(1), std::span<T const>(owned_).subspan(first, length), mean);
        if (session_.failed() || !compress(on, comm.rank(), mean, at, key_of(n, at))) return;
        auto const x = all.subspan(at, length);
        set_sum(on, n, message_, x);
        session_.check_sum(on, x, at);
        if (owner_keeps_) {
            auto const owned = std::span<T>(next_owned_).subspan(first, length);
            copy(on, std::span<T const>(mean), owned);
            return add_message(on, owned, T(-1), message_);
        }
        if (!keeps_) return;
        auto const left = std::span<T>(left_).subspan(at, length);
        add_scaled(on, T(1), std::span<T const>(sum), left);
        add_scaled(on, T(-1), std::span<T const>(x), left);
    }

    C compressor_;
    key from_, round_;
    detail::message_of<C, T, B> message_, theirs_;
    typename B::template array<T> left_, sum_, mean_;   // of the vector, and of a piece
    typename B::template array<T> owned_, next_owned_;  // of this rank's part
    bool ring_, owner_keeps_, keeps_ = true;
};

}  // namespace laconic
