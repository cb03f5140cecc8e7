// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>

#include "laconic/collective/collective.hpp"
#include "laconic/collective/terms/list_exchange.hpp"

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
    template <class C>
    void merge_level(B& on, C& comm, int distance, sparse_sum<T, B>& v) {
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
