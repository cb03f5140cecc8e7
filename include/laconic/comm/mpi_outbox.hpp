// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mpi.h>

#include <cstddef>
#include <span>
#include <vector>

#include "laconic/comm/communicator.hpp"
#include "laconic/comm/mpi_inbox.hpp"

namespace laconic::detail {

/// A duplicate of an MPI communicator that returns its errors.
struct mpi_duplicate {
    MPI_Comm all = MPI_COMM_NULL;
    explicit mpi_duplicate(MPI_Comm of) {
        check_mpi(MPI_Comm_dup(of, &all), "MPI_Comm_dup");
        MPI_Comm_set_errhandler(all, MPI_ERRORS_RETURN);
    }
    mpi_duplicate(mpi_duplicate const&) = delete;
    mpi_duplicate& operator=(mpi_duplicate const&) = delete;
    ~mpi_duplicate() {
        if (all != MPI_COMM_NULL) MPI_Comm_free(&all);
    }
};

/// The MPI communicator of the ranks of `of` that give the same color, in the order of their keys.
struct mpi_part {
    MPI_Comm all = MPI_COMM_NULL;
    mpi_part(MPI_Comm of, int color, int key) { check_mpi(MPI_Comm_split(of, color, key, &all), "MPI_Comm_split"); }
    mpi_part(mpi_part const&) = delete;
    mpi_part& operator=(mpi_part const&) = delete;
    ~mpi_part() {
        if (all != MPI_COMM_NULL) MPI_Comm_free(&all);
    }
};

/// The messages of this rank to others, from memory that must stay as it is until they are received. Reuses its memory.
class mpi_outbox {
  public:
    mpi_outbox(MPI_Comm all, mpi_wait& how) : all_(all), how_(&how) {}

    void send(std::span<std::byte const> bytes, int to, int tag) {
        to_.push_back(to);
        check_mpi(MPI_Isend(bytes.data(), static_cast<int>(bytes.size()), MPI_BYTE, to, tag, all_,
                            &sent_.emplace_back(MPI_REQUEST_NULL)),
                  "MPI_Isend");
    }
    /// Sends it in pieces of at most `piece` bytes.
    void send(payload message, int to, std::size_t piece) {
        mpi_pieces::for_each(message, piece, [&](std::span<std::byte const> bytes, int tag) { send(bytes, to, tag); });
    }
    /// Whether some may not have been received.
    bool waits() const { return !sent_.empty(); }
    /// Waits until all of it is received, or a receiver has left, which may not receive its part before this rank
    /// leaves, too. Returns that receiver, or no_rank. Others may leave meanwhile: they have done all that they had to.
    /// Throws comm_error, which names the receiver, where the deadline passes before.
    int await(mpi_inbox& inbox) {
        auto const until = how_->longest.from_now();
        while (!is_over()) {
            inbox.look();
            how_->check();
            if (inbox.left() > 0)
                if (int const gone = first_not_taken([&](int to) { return inbox.has_left(to); }); gone != no_rank)
                    return gone;
            if (how_->longest.is_over(until))
                how_->timed_out(first_not_taken([](int) { return true; }), " did not take a message");
        }
        sent_.clear();
        to_.clear();
        return no_rank;
    }
    /// Whether all of it is received.
    bool is_over() { return are_over(sent_); }

  private:
    // The first receiver for which counts() holds that has not received its part, or no_rank.
    template <class Counts>
    int first_not_taken(Counts counts) {
        for (std::size_t i = 0; i < sent_.size(); ++i) {
            if (!counts(to_[i])) continue;
            int over = 0;
            check_mpi(MPI_Test(&sent_[i], &over, MPI_STATUS_IGNORE), "MPI_Test");
            if (over == 0) return to_[i];
        }
        return no_rank;
    }

    MPI_Comm all_;
    mpi_wait* how_;
    std::vector<MPI_Request> sent_;
    std::vector<int> to_;
};

}  // namespace laconic::detail
