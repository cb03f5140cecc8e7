// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "laconic/collective/collective.hpp"

namespace laconic {

/// The sum of dense vectors as the communicator's engine makes it, such as MPI_Allreduce: its cost and its order of
/// addition are the engine's, and all ranks get the same bits. An engine would wait for ever, or write beyond the end,
/// if one rank had fewer numbers, and reports to no rank which one brought a NaN. So the ranks first call an all-gather
/// of no bytes (over MPI an envelope of 8 a rank, about log2 P messages), and report errors there.
struct engine_all_reduce {
    static constexpr void description(auto&& describe) {
        describe("engine_all_reduce", "dense: the one of the communicator, such as MPI_Allreduce", "");
    }
    template <Scalar T, class B = host>
    class adder;
    bool operator==(engine_all_reduce const&) const = default;
};

template <Scalar T, class B>
class engine_all_reduce::adder : detail::sum_in_session {
  public:
    using detail::sum_in_session::sum_in_session;

    /// Errors of what a rank brought come before anything is added, and x is as it was then.
    template <AllReducer<T> C>
    void operator()(B& on, C& comm, std::span<T> x, sum_round round = {}) {
        session_.start(on, comm, round, x, d_);
        session_.share_failure(comm);
        session_.finish();
        comm.all_reduce(x);
        session_.check_sum(on, x, 0);  // all ranks have the same sum: no report is needed
        session_.finish();
    }
};

}  // namespace laconic
