// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

#include "laconic/collective/collective.hpp"
#include "laconic/collective/parts.hpp"

namespace laconic {

/// The sum of sparse vectors by parts (SparCML, Renggli et al., SC 2019): each rank adds up one part of the
/// coordinates, whose terms all others send to it, and then all ranks gather the parts' sums. P - 1 + ceil(log2 P)
/// messages; a rank sends about (P - 1) / P of its k terms, and as large a share of the K terms of the sum. Nothing is
/// dropped. The sum is added up in the order of ranks, as gather_all does, and each part by one rank for all, so that
/// all get the same bits. Any P. A dense second stage sends (P - 1) / P d numbers, in pieces where they are more than
/// 64 000 bytes, and makes v list all d. Reuses its memory, which grows with the terms of all ranks.
struct split_all_gather {
    /// In which form all ranks receive the sum.
    enum class second_stage {
        sparse,  ///< the terms that it has (SSAR_Split_allgather)
        dense    ///< every number (DSAR_Split_allgather): longer here, but quick to read where almost all are there
    };
    friend constexpr std::array<std::string_view, 2> words_of(second_stage) { return {"sparse", "dense"}; }

    second_stage then = second_stage::sparse;

    static constexpr void description(auto&& describe) {
        describe("split_all_gather", "sparse, the sum gathered sparse, dense or quantize(levels)",
                 "Renggli et al., SC 2019", field("then", &split_all_gather::then).written());
    }
    template <Scalar T, OnHost B = host>
    class adder;
    bool operator==(split_all_gather const&) const = default;
};

template <Scalar T, OnHost B>
class split_all_gather::adder : detail::sum_in_session {
  public:
    adder(split_all_gather const& how, std::size_t d, position_code positions)
        : sum_in_session(how, d, positions), then_(how.then) {}

    void operator()(B& on, PointToPoint auto& comm, sparse_sum<T, B>& v, sum_round round = {}) {
        auto const n = static_cast<std::size_t>(comm.size()), me = static_cast<std::size_t>(comm.rank());
        detail::partition const ranges{d_, n};
        detail::split_and_add(on, comm, session_, ranges, v, round, sum_, piece_, lists_);
        if (then_ == second_stage::dense) {
            auto const numbers = v.assign_in_full(on, sum_, ranges.first(me), d_);
            detail::all_gather_numbers(comm, session_, ranges, numbers);
            return session_.finish();
        }
        lists_.clear();  // from here on it has the sums of all parts, this rank's first
        lists_.append(sum_, ranges.first(me));
        detail::all_gather_by(
            comm, session_, [&](wire::bit_writer& sink) { write(sink, sum_); },
            [&](wire::bit_reader& source, std::size_t p) {
                detail::read_and_append(on, source, piece_, ranges.length(p), lists_, ranges.first(p));
            });
        session_.finish();
        v.reset(d_);
        for (std::size_t p = 0; p < n; ++p) v.append(lists_[(p + n - me) % n], 0);
    }
    /// v <- the terms of this rank's part of the sum, by the first half: P - 1 messages, and a collective call of no
    /// bytes, by which all ranks throw the same.
    void reduce_scatter(B& on, PointToPoint auto& comm, sparse_sum<T, B>& v, sum_round const& round = {}) {
        detail::partition const ranges{d_, static_cast<std::size_t>(comm.size())};
        detail::split_and_add(on, comm, session_, ranges, v, round, sum_, piece_, lists_);
        session_.share_failure(comm);
        session_.finish();
        v.reset(d_);
        v.append(sum_, ranges.first(static_cast<std::size_t>(comm.rank())));
    }

  private:
    second_stage then_;
    sparse_sum<T, B> sum_, piece_;  // this rank's part of the sum
    detail::gathered_lists<T, B> lists_;
};

}  // namespace laconic
