// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mpi.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "laconic/comm/communicator.hpp"
#include "laconic/core/error.hpp"

namespace laconic::detail {

/// Throws comm_error with MPI's own text where a call failed.
inline void check_mpi(int status, char const* call) {
    if (status == MPI_SUCCESS) return;
    char text[MPI_MAX_ERROR_STRING] = {};
    int length = 0;
    MPI_Error_string(status, text, &length);
    throw comm_error(-1, std::string(call) + ": " + text);
}

/// What other ranks sent to this one, one message after another from each. MPI carries a long message only once its
/// receiver takes it; so a rank that waits for one takes whatever comes meanwhile, or ranks that hear the others in the
/// same order would have the links of one after another busy, and those of all others idle. Reuses its memory.
class mpi_inbox {
  public:
    explicit mpi_inbox(MPI_Comm all) : all_(all) {}
    mpi_inbox(mpi_inbox const&) = delete;
    mpi_inbox& operator=(mpi_inbox const&) = delete;
    /// Waits for what it has begun to take.
    ~mpi_inbox() {
        for (auto& l : letters_) MPI_Wait(&l.request, MPI_STATUS_IGNORE);
    }

    struct taken {
        std::size_t bytes;
        int tag;
    };
    /// Waits for the next message of rank `from`, and writes it into `bytes` from `at` on, which may grow.
    taken take(int from, std::vector<std::byte>& bytes, std::size_t at) {
        auto const r = static_cast<std::size_t>(from);
        for (;; look()) {
            if (r >= queues_.size() || queues_[r].first == none) continue;
            letter& next = letters_[queues_[r].first];
            int there = 0;
            check_mpi(MPI_Test(&next.request, &there, MPI_STATUS_IGNORE), "MPI_Test");
            if (there == 0) continue;
            free_.push_back(std::exchange(queues_[r].first, next.behind));
            if (at == 0 && bytes.size() <= next.bytes.size()) {
                bytes.swap(next.bytes);
            } else {
                if (bytes.size() < at + next.count) bytes.resize(std::max(at + next.count, 2 * at));
                if (next.count > 0) std::memcpy(bytes.data() + at, next.bytes.data(), next.count);
            }
            return {next.count, next.tag};
        }
    }

  private:
    static constexpr std::size_t none = static_cast<std::size_t>(-1);
    struct letter {
        int tag = 0;
        std::size_t count = 0, behind = none;  // which letter of the same rank comes next
        std::vector<std::byte> bytes{};
        MPI_Request request = MPI_REQUEST_NULL;
    };
    struct queue {
        std::size_t first = none, last = none;
    };

    // Begins to take one more message, if there is one.
    void look() {
        int found = 0, count = 0;
        MPI_Message message = MPI_MESSAGE_NULL;
        MPI_Status status{};
        check_mpi(MPI_Improbe(MPI_ANY_SOURCE, MPI_ANY_TAG, all_, &found, &message, &status), "MPI_Improbe");
        if (found == 0) return;
        check_mpi(MPI_Get_count(&status, MPI_BYTE, &count), "MPI_Get_count");
        if (free_.empty()) {
            free_.push_back(letters_.size());
            letters_.emplace_back();
        }
        auto const place = free_.back();
        free_.pop_back();
        letter& l = letters_[place];
        l.tag = status.MPI_TAG;
        l.behind = none;
        l.count = static_cast<std::size_t>(count);
        if (l.bytes.size() < l.count) l.bytes.resize(l.count);
        check_mpi(MPI_Imrecv(l.bytes.data(), count, MPI_BYTE, &message, &l.request), "MPI_Imrecv");
        auto const from = static_cast<std::size_t>(status.MPI_SOURCE);
        if (queues_.size() <= from) queues_.resize(from + 1);
        auto& q = queues_[from];
        (q.first == none ? q.first : letters_[q.last].behind) = place;
        q.last = place;
    }

    MPI_Comm all_;
    std::vector<letter> letters_;
    std::vector<std::size_t> free_;
    std::vector<queue> queues_;  // of each rank
};

}  // namespace laconic::detail
