// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>

#include "laconic/collective/collective.hpp"
#include "laconic/collective/session.hpp"
#include "laconic/core/portion.hpp"
#include "laconic/core/text.hpp"

namespace laconic {

/// Who keeps what the merges of gtop_k leave out.
enum class left_out {
    to_merger,    ///< the rank that merges: what is brought = what is applied + what is returned, over all ranks
    as_published  ///< who brought it, where its coordinate is not applied; where it is, nobody: that part is lost
};

namespace detail {

/// The algorithm of gtop_k, on one rank. Reuses its memory.
template <Scalar T, class B = host>
class gtop_k_algorithm {
  public:
    /// For vectors of d numbers.
    gtop_k_algorithm(std::size_t d, std::size_t k, left_out goes, position_code positions)
        : d_(d), k_(k), goes_(goes), session_(positions) {
        detail::check_dimension(d);
    }

    /// v <- the terms that are applied, the same on all ranks; each brings its own v, usually its top k. What the
    /// errors mean, see session::finish; then v and leftover() are unspecified.
    template <PointToPoint C>
    void operator()(B& on, C& comm, sparse_sum<T, B>& v, std::uint64_t round = 0) {
        int const me = comm.rank();
        make_room(on, v, comm.size());
        session_.start(round);
        session_.check_input(on, me, v, d_);
        leftover_.reset(d_);
        brought_.reset(d_);
        if (goes_ == left_out::as_published && !session_.failed()) brought_.append(v, 0);
        if (!session_.failed()) v.keep_largest(on, k_, leftover_);
        int const reach = go_up(on, comm, v);
        auto const send = [&](bit_writer& sink) { write(sink, v); };
        if (me != 0)
            session_.receive(comm, me - reach, [&](bit_reader& source) {
                v.reset(d_);
                read(on, source, v);
            });
        for (int distance = reach / 2; distance > 0; distance /= 2)
            if (me + distance < comm.size()) session_.send(comm, me + distance, send);
        session_.finish();
        if (goes_ == left_out::as_published) leftover_.assign_without(brought_, v);
    }

    /// What this rank keeps, to be sent later: of the sums that it merged, itself among them, what was not passed on;
    /// as published, those of its terms whose coordinates are not applied.
    sparse_sum<T, B> const& leftover() const { return leftover_; }

  private:
    // Once: later messages and sums may be longer.
    void make_room(B& on, sparse_sum<T, B>& v, int ranks) {
        auto const kept = std::min(k_, d_), own = std::max(v.size(), kept);
        session_.template make_room<T>(kept);
        theirs_.reserve(kept);
        v.reserve_to_cut(on, std::max(own, std::min(2 * kept, d_)));
        if (goes_ == left_out::as_published) brought_.reserve(own);
        leftover_.reserve(std::min(own + width_of(static_cast<std::uint64_t>(ranks)) * kept, d_));
    }

    // Merges until it is this rank's turn to hand over: its lowest bit is the distance to its parent. At rank 0 what is
    // returned is beyond the last child.
    template <PointToPoint C>
    int go_up(B& on, C& comm, sparse_sum<T, B>& v) {
        int const me = comm.rank();
        int distance = 1;
        for (; distance < comm.size(); distance *= 2) {
            if (me & distance) {
                session_.send(comm, me - distance, [&](bit_writer& sink) { write(sink, v); });
                break;
            }
            if (me + distance >= comm.size()) continue;
            session_.receive(comm, me + distance, [&](bit_reader& source) {
                theirs_.expect(d_);
                read(on, source, theirs_);
                v.add(theirs_);
            });
            if (session_.failed()) continue;
            session_.check_sum(on, v);
            if (session_.failed()) continue;
            v.keep_largest(on, k_, leftover_);
            if (goes_ == left_out::to_merger) session_.check_sum(on, leftover_);  // it adds up over the merges
        }
        return distance;
    }

    std::size_t d_, k_;
    left_out goes_;
    session session_;
    sparse_sum<T, B> theirs_, brought_, leftover_;
};

}  // namespace detail

/// gTop-k (Shi et al., ICDCS 2019): the ranks' sparse vectors go up a binomial tree, each merge keeps the k terms of
/// largest magnitude, of equal ones those of lower coordinates, and what is left at rank 0 goes down to all. Any number
/// of ranks. Bits are the same on all ranks and in every run. 2 ceil(log2 P) messages one after another; rank 0
/// receives and sends ceil(log2 P) of at most k terms: as pairs of words 4 k log2 P words in all, here less. Reuses its
/// memory.
///
/// By default the rank that merges keeps what it leaves out (the rule that SparDL has for its own partial sums), so
/// that nothing is lost, at no cost.
struct gtop_k {
    portion k = 0.01;
    left_out goes = left_out::to_merger;

    void check(std::size_t d) const { k.check(d); }
    template <Scalar T, class B = host>
    detail::gtop_k_algorithm<T, B> make(std::size_t d, position_code positions = position_code::smallest) const {
        return detail::gtop_k_algorithm<T, B>(d, k.of(d), goes, positions);
    }
    bool operator==(gtop_k const&) const = default;
    friend std::string to_string(gtop_k const& x) {
        return detail::concat(
            {"gtop_k(", to_string(x.k), (x.goes == left_out::to_merger ? ")" : ", as_published=yes)")});
    }
};

}  // namespace laconic
