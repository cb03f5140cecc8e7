// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mpi.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "laconic/comm/communicator.hpp"
#include "laconic/comm/mpi_collectives.hpp"
#include "laconic/comm/mpi_inbox.hpp"
#include "laconic/comm/mpi_outbox.hpp"
#include "laconic/comm/mpi_pieces.hpp"

namespace laconic::detail {

/// All memory that MPI may use of an mpi::member: collective calls and exchanges, each over communicators of their own.
class mpi_end {
  public:
    /// The parameters are those of mpi_collectives.
    mpi_end(MPI_Comm all, std::size_t longest, std::size_t piece, std::chrono::milliseconds longest_wait,
            std::vector<int> names)
        : piece_(std::min(piece, longest)),
          is_part_(!names.empty()),
          collectives_(all, longest, piece, longest_wait, std::move(names)),
          pairs_(all) {}
    mpi_end(mpi_end const&) = delete;
    mpi_end& operator=(mpi_end const&) = delete;

    mpi_collectives& collectives() { return collectives_; }
    bool is_part() const { return is_part_; }

    /// As PointToPoint describes it.
    payload exchange(int to, payload mine, int from) {
        check_partners(collectives_.size(), to, from);
        collectives_.require_ready();
        if (to != no_rank) {
            auto& s = room_to_send(mine.bytes.size());
            s.bytes.assign(mine.bytes.begin(), mine.bytes.end());
            mpi_pieces::for_each({s.bytes, mine.is_error}, piece_, [&](std::span<std::byte const> piece, int tag) {
                check_mpi(MPI_Isend(piece.data(), static_cast<int>(piece.size()), MPI_BYTE, to, tag, pairs_.all,
                                    &s.requests.emplace_back(MPI_REQUEST_NULL)),
                          "MPI_Isend");
            });
        }
        if (from == no_rank) return {};
        return inbox_.take(from, received_);
    }

    /// Sends the others the notice that this rank sends nothing more. A part waits for no other rank; other ends wait
    /// as mpi_collectives do.
    void leave() {
        inbox_.leave();
        collectives_.leave();
    }
    /// After leave(): receives what has come. Returns whether all others have left too, and MPI uses nothing of this
    /// any more.
    bool is_over() {
        return collectives_.is_over() && inbox_.is_over() &&
               std::all_of(waiting_.begin(), waiting_.end(), [&](std::size_t w) { return sent_[w].is_over(); });
    }
    /// Whether MPI may use this until the process ends, as a deadline has passed, and then the reason; else "".
    bool gave_up() { return collectives_.wait().gave_up; }
    std::string why_gave_up() { return gave_up() ? collectives_.wait().why.why() : std::string(); }

  private:
    struct sending {
        std::vector<std::byte> bytes;
        std::vector<MPI_Request> requests;

        bool is_over() { return are_over(requests); }
    };
    // Any one that is over: behind one that waits for a late receiver the others must not pile up. They may be
    // hundreds: four are tested, in turn.
    sending& room_to_send(std::size_t bytes) {
        for (int looks = 4; looks > 0 && !waiting_.empty(); --looks) {
            turn_ = (turn_ + 1) % waiting_.size();
            auto& s = sent_[waiting_[turn_]];
            if (!s.is_over()) continue;
            s.requests.clear();
            free_.push_back(std::exchange(waiting_[turn_], waiting_.back()));
            waiting_.pop_back();
        }
        if (free_.empty()) {
            free_.push_back(sent_.size());
            sent_.emplace_back();
        }
        waiting_.push_back(take_room(free_, bytes, [&](std::size_t f) { return sent_[f].bytes.capacity(); }));
        return sent_[waiting_.back()];
    }

    std::size_t piece_;
    bool is_part_;
    mpi_collectives collectives_;
    mpi_duplicate pairs_;
    mpi_inbox inbox_{pairs_.all, collectives_.wait()};
    std::vector<std::byte> received_;
    std::vector<sending> sent_;
    std::vector<std::size_t> waiting_, free_;  // indices into sent_
    std::size_t turn_ = 0;
};

}  // namespace laconic::detail
