// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mpi.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "laconic/comm/mpi_collectives.hpp"

namespace laconic::detail {

/// All memory that MPI may use of an mpi::member: collective calls and exchanges, each over communicators of their own.
class mpi_end : public mpi_collectives {
  public:
    /// The parameters are those of mpi_collectives.
    mpi_end(MPI_Comm all, std::size_t longest, std::size_t piece, std::chrono::milliseconds longest_wait,
            std::vector<int> names)
        : mpi_collectives(all, longest, piece, longest_wait, std::move(names)),
          piece_(std::min(piece, longest)),
          pairs_(all) {}

    bool is_part() { return !wait().names.empty(); }

    /// As PointToPoint describes it.
    payload exchange(int to, payload mine, int from) {
        check_partners(size(), to, from);
        require_ready();
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
        mpi_collectives::leave();
    }
    /// After leave(): receives what has come. Returns whether all others have left too, and MPI uses nothing of this
    /// any more.
    bool is_over() {
        return mpi_collectives::is_over() && inbox_.is_over() &&
               std::all_of(waiting_.begin(), waiting_.end(), [&](std::size_t w) { return sent_[w].is_over(); });
    }
    /// Whether MPI may use this until the process ends, as a deadline has passed, and then the reason; else "".
    bool gave_up() { return wait().gave_up; }
    std::string why_gave_up() { return gave_up() ? wait().why.why() : std::string(); }

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
    mpi_duplicate pairs_;
    mpi_inbox inbox_{pairs_.all, wait()};
    std::vector<std::byte> received_;
    std::vector<sending> sent_;
    std::vector<std::size_t> waiting_, free_;  // indices into sent_
    std::size_t turn_ = 0;
};

/// The ends of an mpi::member, and of all that come from it, that this rank has left and others have not: they share
/// this, and the last of them destroys it. An end that is over is destroyed, which frees its communicators. By then all
/// ranks have left it, at other times and in another order, so MPI_Comm_free must not wait for another rank, which
/// MPI's standard expects.
class mpi_dropped {
  public:
    mpi_dropped() = default;
    mpi_dropped(mpi_dropped const&) = delete;
    mpi_dropped& operator=(mpi_dropped const&) = delete;
    /// Waits until all of them are over. They are polled together: a rank that polled one only would not receive the
    /// long messages of the next, for which another rank may wait. Where the end that all come from gave up, what MPI
    /// may still use is leaked until the process ends, and so is each end that gave up, and all where MPI has ended.
    ~mpi_dropped() {
        while (!ends_.empty()) look();
    }

    /// This rank leaves `end`.
    void add(std::unique_ptr<mpi_end> end) noexcept {
        try {
            if (mpi_runs()) end->leave();
            ends_.push_back(std::move(end));
            look();
        } catch (comm_error const&) {  // MPI itself has failed
            leak(end);
        }
    }
    /// Destroys the ends that are over.
    void look() noexcept {
        for (std::size_t i = 0; i < ends_.size();) {
            if (!is_over(ends_[i])) {
                ++i;
                continue;
            }
            std::swap(ends_[i], ends_.back());
            ends_.pop_back();
        }
    }

    /// The reason for which the first of them gave up; or "".
    std::string const& why_gave_up() const { return why_; }

  private:
    bool is_over(std::unique_ptr<mpi_end>& end) {
        try {
            if (why_.empty()) why_ = end->why_gave_up();
            if (mpi_runs() && !gave_up_ && !end->gave_up()) return end->is_over();
        } catch (comm_error const&) {  // MPI itself has failed
        }
        leak(end);
        return true;
    }
    void leak(std::unique_ptr<mpi_end>& end) {
        gave_up_ = gave_up_ || !end->is_part();
        static_cast<void>(end.release());
    }

    std::vector<std::unique_ptr<mpi_end>> ends_;
    bool gave_up_ = false;
    std::string why_;
};

/// How an mpi::member's std::unique_ptr gives up its end.
struct mpi_drop {
    std::shared_ptr<mpi_dropped> to;
    void operator()(mpi_end* end) const { to->add(std::unique_ptr<mpi_end>(end)); }
};

}  // namespace laconic::detail
