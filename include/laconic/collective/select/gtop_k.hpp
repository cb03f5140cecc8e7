// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "laconic/collective/collective.hpp"
#include "laconic/comm/array_carrier.hpp"

namespace laconic::detail {

/// A communicator that lists of terms in B's memory travel over.
template <class C, class B>
concept ListCarrier = (OnHost<B> && PointToPoint<C>) || ArrayCarrier<C, B>;

/// How lists of terms travel between the ranks of a collective: where the host reaches them, as messages in pairs, and
/// a rank waits for those alone whose lists it needs.
template <Scalar T, class B>
class list_exchange {
  public:
    explicit list_exchange(position_code positions) : session_(positions) {}

    /// Where errors of this rank and of others are collected.
    session& errors() { return session_; }
    /// Starts a round, with lists of at most `most` terms of vectors of d numbers. A longer one is a wire_error.
    void start(B&, auto&, std::size_t d, std::size_t most, sum_round const& round) {
        session_.template make_room<T>(most);
        session_.start(round);
        d_ = d;
        most_ = most;
    }
    /// `mine` goes to rank `to`, and `theirs` becomes what rank `from` sends; either may be no_rank. All ranks call it
    /// as often. Returns whether there is something in `theirs`.
    bool pass(B& on, auto& comm, int to, sparse_sum<T, B> const& mine, int from, sparse_sum<T, B>& theirs) {
        if (to != no_rank) session_.send(comm, to, [&](wire::bit_writer& sink) { write(sink, mine); });
        if (from == no_rank) return false;
        session_.receive(comm, from, [&](wire::bit_reader& source) {
            theirs.expect(d_);
            read(on, source, theirs);
            if (theirs.size() > most_)
                source.refuse(concat({"a list of ", theirs.size(), " terms, where no rank has more than ", most_}));
        });
        return !session_.failed();
    }
    /// v <- that of rank 0, on all ranks: down a binomial tree. Throws what session::finish does.
    void spread(B& on, auto& comm, sparse_sum<T, B>& v) {
        int const me = comm.rank();
        int reach = 1;  // of this rank: its lowest bit
        while (reach < comm.size() && (me & reach) == 0) reach *= 2;
        if (me != 0) pass(on, comm, no_rank, v, me - reach, v);
        for (int distance = reach / 2; distance > 0; distance /= 2)
            if (me + distance < comm.size()) pass(on, comm, me + distance, v, no_rank, v);
        session_.finish();
    }

  private:
    session session_;
    std::size_t d_ = 0, most_ = 0;
};

/// The same in a memory that the host does not reach, over a communicator that carries arrays. Before each pass all
/// ranks call an all-gather of how many terms they have, or of their error: for this they wait, and all throw the same.
/// Then the lists go from memory to memory, in the order of the kernels.
template <Scalar T, class B>
requires(!OnHost<B>) class list_exchange<T, B> {
  public:
    explicit list_exchange(position_code) {}  // no positions are encoded

    session& errors() { return session_; }
    void start(B& on, auto& comm, std::size_t d, std::size_t most, sum_round const& round) {
        comm.require_stream_of(on);
        lengths_.resize(static_cast<std::size_t>(comm.size()));
        session_.start(round);
        d_ = d;
        most_ = most;
    }
    /// Throws wire_error where a rank has more terms than `most`, before any memory is asked for.
    bool pass(B&, auto& comm, int to, sparse_sum<T, B> const& mine, int from, sparse_sum<T, B>& theirs) {
        compare_lengths(comm, mine.size());
        if (from != no_rank) theirs.expect(d_, lengths_[static_cast<std::size_t>(from)]);
        comm.together([&] {
            if (to != no_rank) {
                comm.send(to, mine.support());
                comm.send(to, mine.values());
            }
            if (from != no_rank) {
                comm.receive(from, theirs.support_to_fill());
                comm.receive(from, theirs.values_to_fill());
            }
        });
        return from != no_rank;
    }
    void spread(B&, auto& comm, sparse_sum<T, B>& v) {
        compare_lengths(comm, v.size());
        if (comm.rank() != 0) v.expect(d_, lengths_[0]);
        comm.together([&] {
            comm.spread(0, v.support(), v.support_to_fill());
            comm.spread(0, v.values(), v.values_to_fill());
        });
    }

  private:
    void compare_lengths(auto& comm, std::size_t n) {
        auto const mine = std::uint64_t{n};
        session_.share_failure(comm, std::as_bytes(std::span(&mine, 1)));
        session_.finish();
        for (std::size_t r = 0; r < lengths_.size(); ++r) {
            auto const received = comm.from(static_cast<int>(r)).bytes;
            if (received.size() != sizeof mine) failure::unreadable(static_cast<int>(r), 0, "no length").raise();
            std::memcpy(&lengths_[r], received.data(), sizeof mine);
            if (lengths_[r] > most_)
                failure::unreadable(static_cast<int>(r), 0,
                                    concat({"a list of ", lengths_[r], " terms, where no rank has more than ", most_}))
                    .raise();
        }
    }

    session session_;
    std::size_t d_ = 0, most_ = 0;
    std::vector<std::uint64_t> lengths_;
};

}  // namespace laconic::detail

namespace laconic {

/// gTop-k (Shi et al., ICDCS 2019): the ranks' sparse vectors go up a binomial tree, each merge keeps the k terms of
/// largest magnitude, of equal ones those of lower coordinates, and what is left at rank 0 goes down to all. Any number
/// of ranks. Bits are the same on all ranks and in every run. 2 ceil(log2 P) messages one after another; rank 0
/// receives and sends ceil(log2 P) of at most k terms: as pairs of words 4 k log2 P words in all, here less. Reuses its
/// memory. On a device the lists stay there, over a communicator that carries arrays (comm/array_carrier.hpp), and all
/// ranks wait for each other before each of the ceil(log2 P) + 1 steps.
///
/// By default the rank that merges keeps what it leaves out (the rule that SparDL has for its own partial sums), so
/// that nothing is lost, at no cost.
struct gtop_k {
    portion k = 0.01;
    /// Whether the terms that the merges leave out stay with the rank that brought them, where their coordinate is not
    /// applied at all; where it is, that part is lost.
    bool as_published = false;

    static constexpr void description(auto&& describe) {
        describe("gtop_k", "k terms of sums along a tree", "Shi et al., ICDCS 2019", field("k", &gtop_k::k).written(),
                 field("as_published", &gtop_k::as_published));
    }
    void check(std::size_t d) const { k.check(d); }
    /// By the cost_formulas: k terms up and down the tree; less where P is no power of two.
    double seconds(auto const& costs) const {
        auto const& what = costs.what();
        return 2 * std::ceil(std::log2(costs.ranks())) * costs.hop(costs.list(what.d, what.k), what.k);
    }
    template <Scalar T, class B = host>
    class adder;
    bool operator==(gtop_k const&) const = default;
};

template <Scalar T, class B>
class gtop_k::adder {
  public:
    adder(gtop_k const& how, std::size_t d, position_code positions)
        : d_(d), k_(std::min(how.k.of(d), d)), as_published_(how.as_published), lists_(positions) {}

    /// v <- the terms that are applied, the same on all ranks; each brings its own v, usually its top k. After an error
    /// leftover() is unspecified, too.
    template <detail::ListCarrier<B> C>
    void operator()(B& on, C& comm, sparse_sum<T, B>& v, sum_round round = {}) {
        auto& errors = lists_.errors();
        make_room(on, v, static_cast<std::size_t>(comm.size()));
        lists_.start(on, comm, d_, k_, round);
        errors.check_input(on, comm.rank(), v, d_);
        leftover_.reset(d_);
        brought_.reset(d_);
        if (!errors.failed()) {
            if (as_published_) brought_.assign(on, v);
            v.keep_largest(on, k_, leftover_);
        }
        for (int distance = 1; distance < comm.size(); distance *= 2) merge_level(on, comm, distance, v);
        lists_.spread(on, comm, v);
        if (as_published_) leftover_.assign_without(on, brought_, v);
    }

    /// What this rank keeps, to be sent later: of the sums that it merged, itself among them, what was not passed on;
    /// as published, those of its terms whose coordinates are not applied.
    sparse_sum<T, B> const& leftover() const { return leftover_; }

  private:
    // Once, for all that v may bring later.
    void make_room(B& on, sparse_sum<T, B>& v, std::size_t ranks) {
        auto const own = std::max(v.most_terms(), k_);
        theirs_.reserve_to_read(k_);
        v.reserve_to_cut(on, std::max(own, std::min(2 * k_, d_)), k_);
        if (as_published_) brought_.reserve(on, own);
        leftover_.reserve(on, std::min(own + detail::width_of(ranks) * k_, d_));
    }

    // A rank whose lowest bit is the distance hands over, and has nothing to merge from then on.
    void merge_level(B& on, auto& comm, int distance, sparse_sum<T, B>& v) {
        int const me = comm.rank(), above = me % (2 * distance);
        int const to = above == distance ? me - distance : no_rank;
        int const from = above == 0 && me + distance < comm.size() ? me + distance : no_rank;
        if (!lists_.pass(on, comm, to, v, from, theirs_)) return;
        auto& errors = lists_.errors();
        v.add(on, theirs_);
        errors.check_sum(on, v);
        if (errors.failed()) return;
        v.keep_largest(on, k_, leftover_);
        if (!as_published_) errors.check_sum(on, leftover_);  // it adds up over the merges
    }

    std::size_t d_, k_;
    bool as_published_;
    detail::list_exchange<T, B> lists_;
    sparse_sum<T, B> theirs_, brought_, leftover_;
};

}  // namespace laconic
