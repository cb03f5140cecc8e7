// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "laconic/comm/mpi_end.hpp"
#include "laconic/comm/mpi_pieces.hpp"
#include "laconic/core/error.hpp"

namespace laconic::detail {

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
