// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "laconic/exchange/bruck.hpp"
#include "laconic/exchange/partition.hpp"
#include "laconic/exchange/permutation.hpp"

namespace laconic {

/// About k terms of the sum of sparse vectors (SparDL's Spar-Reduce-Scatter, Zhao et al., ICDE 2024): the coordinates
/// lie in P blocks, and before a block leaves a rank, on its way to the one that adds it up, it is cut to its
/// ceil(k / P) terms of largest magnitude, of equal ones those that come first; then the blocks are gathered by
/// all. What is cut stays with the rank that cuts: the sum of what is brought = what is applied + the sum of what is
/// returned. 2 ceil(log2 P) messages one after another, 2 (P - 1) / P k terms said by each rank; any P. Each block is
/// added up in the same way for all, so that all get the same bits. Reuses its memory.
///
/// Blocks are equally long, and where most that is brought lies in few of them, most of it is cut. `scatter` deals the
/// coordinates to blocks by a permutation drawn from this key and the round, so that the blocks have about as much
/// each.
template <Scalar T, class B = host>
class spar_reduce_scatter {
  public:
    /// For vectors of d numbers. Throws shape_error on all ranks where they do not call it with the same.
    template <Communicator C>
    spar_reduce_scatter(C& comm, std::size_t d, std::size_t k, std::optional<key> scatter = {},
                        position_code positions = position_code::smallest)
        : spar_reduce_scatter(d, k, scatter, positions) {
        detail::agree_on_exchange<T>(comm, d, to_string(*this));
    }
    /// The same for ranks that know that they agree on d, T and to_string of this.
    spar_reduce_scatter(std::size_t d, std::size_t k, std::optional<key> scatter = {},
                        position_code positions = position_code::smallest)
        : d_(d), k_(std::min(k, d)), scatter_(scatter), talk_(positions) {
        detail::check_dimension(d);
    }

    /// v <- the terms that are applied, at most ceil(k / P) of each block, the same on all ranks; each brings its own
    /// v, usually its top k, and the same round. What the errors mean, see conversation::finish; then v and returned() are unspecified.
    template <PointToPoint C>
    void operator()(B& on, C& comm, sparse_sum<T, B>& v, std::uint64_t round = 0) {
        auto const n = static_cast<std::size_t>(comm.size());
        partition const blocks{d_, n};
        make_room(on, v, blocks);
        talk_.start(round);
        talk_.check_input(on, comm.rank(), v, d_);
        permutation const dealt(d_, scatter_.value_or(key{}).child(round));
        if (scatter_ && !talk_.in_trouble()) rearrange(v, dealt);
        for (std::size_t p = 0; p < n; ++p) {
            parts_[p].reset(blocks.length(p));
            cut_[p].reset(blocks.length(p));
            if (!talk_.in_trouble()) parts_[p].assign_part(v, blocks.first(p), blocks.length(p));
        }
        reduce_scatter(on, comm, blocks, [&](std::uint64_t i) { return scatter_ ? dealt.inverse(i) : i; });
        detail::all_gather_parts(on, comm, talk_, parts_);
        talk_.finish();
        v.reset(d_);
        returned_.reset(d_);
        for (std::size_t p = 0; p < n; ++p) {
            v.append(parts_[p], blocks.first(p));
            returned_.append(cut_[p], blocks.first(p));
        }
        if (!scatter_) return;
        auto const back = [&](std::uint64_t i) { return dealt.inverse(i); };
        rearrange(v, back);
        rearrange(returned_, back);
    }

    /// What this rank keeps, to be said later: what it cut from the blocks that it handed on or added up.
    sparse_sum<T, B> const& returned() const { return returned_; }

    friend std::string to_string(spar_reduce_scatter const& e) {
        return "spar_reduce_scatter(" + std::to_string(e.k_) +
               (e.scatter_ ? ", scattered by " + std::to_string(e.scatter_->bits) + ")" : ")");
    }

  private:
    // A block reaches its rank over at most ceil(log2 P) others, each of which adds its own to it.
    template <PointToPoint C, class Where>
    void reduce_scatter(B& on, C& comm, partition const& blocks, Where where) {
        auto const n = blocks.parts, me = static_cast<std::size_t>(comm.rank());
        std::size_t const quota = k_ / n + (k_ % n != 0);
        for (std::size_t gap = std::bit_ceil(n) / 2; gap > 0; gap /= 2) {
            std::size_t const count = std::min(gap, n - gap);
            talk_.exchange(
                comm, static_cast<int>((me + gap) % n),
                [&](bit_writer& sink) {
                    for (std::size_t j = 0; j < count; ++j) {
                        std::size_t const p = (me + gap + j) % n;
                        parts_[p].keep_largest(on, quota, cut_[p]);
                        write(sink, parts_[p]);
                    }
                },
                static_cast<int>((me + n - gap) % n),
                [&](bit_reader& source) {
                    for (std::size_t j = 0; j < count; ++j) {
                        std::size_t const p = (me + j) % n;
                        theirs_.reset(blocks.length(p));
                        read(on, source, theirs_);
                        parts_[p].add(theirs_);
                        talk_.check_sum(on, parts_[p], [&](std::uint64_t i) { return where(blocks.first(p) + i); });
                    }
                });
        }
        if (!talk_.in_trouble()) parts_[me].keep_largest(on, quota, cut_[me]);
    }

    // v_i becomes v_to(i).
    template <class Map>
    void rearrange(sparse_sum<T, B>& v, Map const& to) {
        moved_.clear();
        for (std::size_t j = 0; j < v.size(); ++j)
            moved_.emplace_back(static_cast<coordinate>(to(v.support()[j])), v.values()[j]);
        std::sort(moved_.begin(), moved_.end(), [](auto const& a, auto const& b) { return a.first < b.first; });
        v.reset(d_);
        for (auto const& [at, value] : moved_) v.append(at, value);
    }

    // Once: later blocks may have more terms.
    void make_room(B& on, sparse_sum<T, B>& v, partition const& blocks) {
        auto const n = blocks.parts;
        parts_.resize(n);
        cut_.resize(n);
        for (std::size_t p = 0; p < n; ++p) {
            parts_[p].reserve_to_cut(on, blocks.length(p));
            cut_[p].reserve(blocks.length(p));
        }
        theirs_.reserve(std::min(k_ / n + 1, blocks.length(n - 1) + 1));
        talk_.template make_room<T>(k_ + n);
        v.reserve(d_);
        returned_.reserve(d_);
        if (scatter_) moved_.reserve(d_);
    }

    std::size_t d_, k_;
    std::optional<key> scatter_;
    conversation talk_;
    std::vector<sparse_sum<T, B>> parts_, cut_;
    sparse_sum<T, B> theirs_, returned_;
    std::vector<std::pair<coordinate, T>> moved_;
};

}  // namespace laconic
