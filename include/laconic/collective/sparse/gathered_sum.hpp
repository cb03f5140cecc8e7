// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "laconic/collective/collective.hpp"
#include "laconic/collective/parts.hpp"

namespace laconic {

/// The sum of sparse vectors by each rank for itself, of the terms of all ranks: ceil(log2 P) messages, (P - 1) k terms
/// sent by each rank, and P k terms of memory. The fewest messages that there can be; where ranks have much in common
/// or are many, others send less. Added up in the order of ranks, so that all get the same bits. Any P. Reuses its
/// memory, which goes with the terms of all ranks, and grows where they have more than ever before.
struct gathered_sum {
    static constexpr void description(auto&& describe) {
        describe("gathered_sum", "sparse: every rank receives all terms in log2 P messages, and adds them up", "");
    }
    template <Scalar T, OnHost B = host>
    class adder;
    bool operator==(gathered_sum const&) const = default;
};

template <Scalar T, OnHost B>
class gathered_sum::adder : detail::sum_in_session {
  public:
    using detail::sum_in_session::sum_in_session;

    /// Who receives damaged bytes can report them only to ranks that come later in the schedule: the others have the
    /// sum.
    void operator()(B& on, PointToPoint auto& comm, sparse_sum<T, B>& v, sum_round round = {}) {
        auto const n = static_cast<std::size_t>(comm.size()), me = static_cast<std::size_t>(comm.rank());
        auto const most = detail::most_terms_of_sum(v, d_, n);
        session_.make_room<T>(most);
        v.reserve(on, most);
        lists_.reserve(on, n, most);
        session_.start(on, comm, round, v, d_);
        lists_.clear();
        lists_.append(v, 0);
        detail::all_gather_by(
            comm, session_, [&](wire::bit_writer& sink) { write(sink, v); },
            [&](wire::bit_reader& source, std::size_t) {
                detail::read_and_append(on, source, theirs_, d_, lists_, 0);
            });
        session_.finish();
        lists_.add_up(on, (n - me) % n, v);
        session_.check_sum(on, v);  // all see the same
        session_.finish();
    }

  private:
    sparse_sum<T, B> theirs_;
    detail::gathered_lists<T, B> lists_;  // this rank's first
};

}  // namespace laconic
