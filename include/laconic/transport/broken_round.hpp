// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "laconic/core/error.hpp"
#include "laconic/core/text.hpp"

namespace laconic::detail {

/// Why this rank's state may not match the other ranks', if it may not: then a run goes on only from a saved state.
class broken_round {
  public:
    /// From here on the server may have updated its state and this rank not; on the server, the others.
    void answer_is_on_its_way() { why_ = why::answer; }
    /// From here on other ranks may have the sum of a collective, and this one not.
    void sum_is_under_way() { why_ = why::sum; }
    /// From here on this rank's state is updated in part.
    void rank_moves() { why_ = why::move; }
    /// From here on other ranks may have finished the round, which this one may have not.
    void round_is_under_way() { why_ = why::round; }
    void recover() { why_ = why::none; }

    /// Throws comm_error on rank `rank` where round `round` was left after one of these.
    void require_consistent(int rank, std::uint64_t round) const {
        if (why_ == why::answer)
            throw comm_error(0, concat({"the server's answer in round ", round, " was lost", ending}));
        if (why_ == why::sum)
            throw comm_error(-1, concat({"the collective of round ", round,
                                         " broke off, and other ranks may have its sum", ending}));
        if (why_ == why::round)
            throw comm_error(-1, concat({"round ", round, " broke off, and other ranks may have finished it", ending}));
        if (why_ == why::move)
            throw comm_error(rank, concat({"round ", round, " broke off while rank ", rank, " moved", ending}));
    }

  private:
    static constexpr char const* ending = ": only a saved state can be gone on from";
    enum class why { none, answer, sum, round, move };
    why why_ = why::none;
};

}  // namespace laconic::detail
