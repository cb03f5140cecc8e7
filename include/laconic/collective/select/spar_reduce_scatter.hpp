// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "laconic/collective/collective.hpp"
#include "laconic/collective/parts.hpp"
#include "laconic/collective/select/permutation.hpp"

namespace laconic::detail {

/// The parts of a vector as rank `me` counts them: its own first, then those of me + 1, me + 2, .., round to me - 1.
/// Coordinates are counted from where its own starts. So what a rank of a ring receives together lies together, and one
/// list holds all parts, whose sizes are not known before.
struct turned {
    partition parts;
    std::size_t me;

    std::size_t ranks() const { return parts.parts; }
    std::size_t origin() const { return parts.first(me); }
    /// Where the j-th part from me on starts; j = ranks() gives d.
    std::size_t first(std::size_t j) const {
        auto const p = me + j;
        return p < ranks() ? parts.first(p) - origin() : parts.d - origin() + parts.first(p - ranks());
    }
    std::size_t length(std::size_t j) const { return first(j + 1) - first(j); }
    /// Each of these coordinates, in any order, as this rank counts it; and back.
    void turn(std::span<coordinate> at) const { count_from(origin(), at); }
    void turn_back(std::span<coordinate> at) const { count_from(parts.d - origin(), at); }

  private:
    void count_from(std::size_t start, std::span<coordinate> at) const {
        auto const first = static_cast<coordinate>(start), d = static_cast<coordinate>(parts.d);
        for (auto& i : at) i = i >= first ? i - first : i + (d - first);
    }
};

/// The mean of min(X, most), where X is how many of k coordinates out of d fall into a part of `part` of them: of a
/// normal distribution with the mean and the variance of X.
inline double expected_kept(double d, double k, double part, double most) {
    if (!(d > 0 && k > 0 && part > 0)) return 0;
    double const mean = k * part / d, deviation = std::sqrt(std::max(0.0, mean * (1 - part / d) * (1 - k / d)));
    if (deviation < 1e-9 * mean) return std::min(mean, most);
    double const z = (most - mean) / deviation, below = 0.5 * std::erfc(-z / std::sqrt(2.0));
    double const density = std::exp(-0.5 * z * z) / std::sqrt(2 * 3.14159265358979323846);
    return std::min(most + (mean - most) * below - deviation * density, most);
}

}  // namespace laconic::detail

namespace laconic {

/// About k terms of the sum of sparse vectors (SparDL's Spar-Reduce-Scatter, Zhao et al., ICDE 2024): the coordinates
/// lie in P blocks, and before a block leaves a rank, on its way to the one that adds it up, it is cut to its ceil(k /
/// P) terms of largest magnitude, of equal ones those that come first; then the blocks are gathered by all. What is cut
/// stays with the rank that cuts: the sum of what is brought = what is applied + the sum of what is returned. 2
/// ceil(log2 P) messages one after another, 2 (P - 1) / P k terms sent by each rank; any P. Each block is added up in
/// the same way for all, so that all get the same bits. Time and memory go with k, not with d.
///
/// Blocks are equally long, and where most that is brought lies in few of them, as in the gradients of most networks,
/// most of it is cut. So coordinates are dealt to blocks by a permutation drawn from `seed` and the round, for the time
/// of two sorts of k terms, unless as_published.
struct spar_reduce_scatter {
    portion k = 0.01;
    bool as_published = false;  ///< blocks are of coordinates in their order
    std::uint64_t seed = 0;     ///< of the permutations, with the round's number; a run's own seed plays no part

    static constexpr void description(auto&& describe) {
        describe("spar_reduce_scatter", "k terms of the sum by blocks", "Zhao et al. (SparDL), ICDE 2024",
                 field("k", &spar_reduce_scatter::k).written(),
                 field("as_published", &spar_reduce_scatter::as_published), field("seed", &spar_reduce_scatter::seed));
    }
    void check(std::size_t d) const { k.check(d); }
    /// By the cost_formulas: k / P terms of each part, first P / 2 parts and then fewer, and then as they are gathered.
    double seconds(auto const& costs) const {
        double const ranks = costs.ranks(), d = costs.what().d, all = costs.what().k, part = d / ranks;
        double const quota = std::min(std::ceil(all / ranks), part);
        double sum = 0, terms = detail::expected_kept(d, all, part, quota);
        for (double gap = std::exp2(std::ceil(std::log2(ranks))) / 2; gap >= 1; gap /= 2) {
            double const parts = std::min(gap, ranks - gap);
            sum += costs.step(parts * costs.list(part, terms), parts * terms);
            terms = std::min(quota, terms * (2 - terms / part));
        }
        return sum + costs.gathered_parts(part, terms);
    }
    template <Scalar T, OnHost B = host>
    class adder;
    bool operator==(spar_reduce_scatter const&) const = default;
};

template <Scalar T, OnHost B>
class spar_reduce_scatter::adder {
  public:
    adder(spar_reduce_scatter const& how, std::size_t d, position_code positions)
        : d_(d),
          k_(std::min(how.k.of(d), d)),
          scatter_(how.as_published ? std::nullopt : std::optional(key{how.seed})),
          session_(positions) {}

    /// v <- the terms that are applied, at most ceil(k / P) of each block, the same on all ranks; each brings its own
    /// v, usually its top k, and the same round. After an error leftover() is unspecified, too.
    void operator()(B& on, PointToPoint auto& comm, sparse_sum<T, B>& v, sum_round round = {}) {
        auto const n = static_cast<std::size_t>(comm.size());
        detail::turned const order{{d_, n}, static_cast<std::size_t>(comm.rank())};
        std::size_t const quota = k_ / n + (k_ % n != 0);
        make_room(on, v, n, quota);
        session_.start(on, comm, round, v, d_);
        detail::permutation const dealt(d_, scatter_.value_or(key{}).child(round.number));
        held_.reset(d_);
        if (!session_.failed())
            rearrange(on, v, held_, [&](std::span<coordinate> at) {
                if (scatter_) dealt(at);
                order.turn(at);
            });
        auto const undealt = [&](std::uint64_t i) { return scatter_ ? dealt.inverse(i) : i; };
        reduce_scatter(on, comm, order, quota, [&](std::uint64_t i) { return undealt((i + order.origin()) % d_); });
        gather(on, comm, order);
        session_.finish();
        for (auto const& [from, to] : {std::pair(&held_, &v), std::pair(&cut_, &leftover_)})
            rearrange(on, *from, *to, [&](std::span<coordinate> at) {
                order.turn_back(at);
                if (scatter_) dealt.inverse(at);
            });
    }

    /// What this rank keeps, to be sent later: what it cut from the blocks that it handed on or added up.
    sparse_sum<T, B> const& leftover() const { return leftover_; }

  private:
    // A block reaches its rank over at most ceil(log2 P) others, each of which adds its own to it. In turned order
    // those that leave are the last that are held, and those that come the first.
    void reduce_scatter(B& on, PointToPoint auto& comm, detail::turned const& order, std::size_t quota, auto where) {
        auto const n = order.ranks();
        cut_.reset(d_);
        for (std::size_t gap = std::bit_ceil(n) / 2; gap > 0; gap /= 2) {
            std::size_t const count = std::min(gap, n - gap);
            session_.exchange(
                comm, static_cast<int>((order.me + gap) % n),
                [&](wire::bit_writer& sink) {
                    arrived_.reset(d_);  // for now: what is cut
                    for (std::size_t j = gap; j < gap + count; ++j) {
                        cut(on, order, j, quota);
                        write(sink, piece_);
                    }
                    held_.drop_from(order.first(gap));
                    cut_.add(on, arrived_);
                },
                static_cast<int>((order.me + n - gap) % n),
                [&](wire::bit_reader& source) {
                    arrived_.reset(d_);
                    for (std::size_t j = 0; j < count; ++j) {
                        piece_.expect(order.length(j));
                        read(on, source, piece_);
                        if (piece_.size() > quota) source.refuse("more terms than a block may have");
                        arrived_.append(piece_, order.first(j));
                    }
                    held_.add(on, arrived_);
                    session_.check_sum(on, held_, where);
                });
        }
        if (session_.failed()) return;
        arrived_.reset(d_);
        cut(on, order, 0, quota);
        cut_.add(on, arrived_);
        held_.reset(d_);
        held_.append(piece_, 0);
    }
    // held_, which has this rank's own block, <- all blocks.
    void gather(B& on, PointToPoint auto& comm, detail::turned const& order) {
        detail::all_gather_by(
            comm, session_,
            [&](wire::bit_writer& sink) {
                piece_.assign_part(held_, 0, order.length(0));
                write(sink, piece_);
            },
            [&](wire::bit_reader& source, std::size_t p) {
                auto const j = (p + order.ranks() - order.me) % order.ranks();
                detail::read_and_append(on, source, piece_, order.length(j), held_, order.first(j));
            });
    }

    // piece_ <- what may leave of the j-th block, and behind arrived_ the rest of it.
    void cut(B& on, detail::turned const& order, std::size_t j, std::size_t quota) {
        piece_.assign_part(held_, order.first(j), order.length(j));
        piece_.keep_largest(on, quota, arrived_, order.first(j));
    }

    // to <- from, where each coordinate becomes what move(at) makes of it.
    void rearrange(B& on, sparse_sum<T, B> const& from, sparse_sum<T, B>& to, auto move) {
        moved_.assign(from.support().begin(), from.support().end());
        move(std::span<coordinate>(moved_));
        to.assign_unsorted(on, moved_, from.values(), d_);
    }
    // Once: a later round may bring other blocks. All that comes, of all blocks, is P - 1 quotas.
    void make_room(B& on, sparse_sum<T, B>& v, std::size_t n, std::size_t quota) {
        auto const own = std::max(std::min(v.size(), d_), k_);
        auto const all = std::min(own + n * quota, d_);
        auto const block = std::min(own + detail::width_of(n) * quota, d_ / n + 1);
        for (auto* const list : {&held_, &arrived_, &cut_, &leftover_, &v}) list->reserve(on, all);
        piece_.reserve_to_cut(on, block, quota);
        session_.template make_room<T>(std::min((n + 1) / 2 * quota, d_) + n);
        moved_.reserve(all);
        reserve_to_sort<T>(on, all, d_);
    }

    std::size_t d_, k_;
    std::optional<key> scatter_;
    session session_;
    sparse_sum<T, B> held_, arrived_, cut_;  // in turned order
    sparse_sum<T, B> piece_, leftover_;
    std::vector<coordinate> moved_;
};

}  // namespace laconic
