// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mpi.h>

#include <algorithm>
#include <cstddef>
#include <span>
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

/// A contribution between two ranks: MPI tells the length of a piece, and the tag the rest. It is cut into pieces that
/// MPI can carry, `longest` bytes at most, and all but the last as long as the first.
struct mpi_pieces {
    static constexpr std::size_t most_told = 16383;  // MPI promises tags up to 32767

    /// How many pieces follow, or most_told of more.
    static constexpr int tag(std::size_t left, bool complaint) {
        return static_cast<int>(std::min(left, most_told) << 1 | (complaint ? 1 : 0));
    }
    static constexpr std::size_t left(int tag) { return static_cast<std::size_t>(tag) >> 1; }
    static constexpr bool is_complaint(int tag) { return (tag & 1) != 0; }

    template <class Send>
    static void for_each(contribution c, std::size_t longest, Send send) {
        do {
            auto const piece = c.bytes.first(std::min(longest, c.bytes.size()));
            c.bytes = c.bytes.subspan(piece.size());
            send(piece, tag(c.bytes.size() / longest + (c.bytes.size() % longest != 0), c.complaint));
        } while (!c.bytes.empty());
    }
};

/// Takes one out of `free`, of which size(f) tells the bytes: the least that has `need`, or else the largest. So the
/// memory of long messages goes to long ones, and need not be found anew; of equal ones it is the last that came.
template <class Size>
std::size_t take_room(std::vector<std::size_t>& free, std::size_t need, Size size) {
    auto best = free.begin();
    for (auto f = best; f != free.end(); ++f) {
        bool const has = size(*f) >= need, best_has = size(*best) >= need;
        if (has == best_has ? (has ? size(*f) <= size(*best) : size(*f) >= size(*best)) : has) best = f;
    }
    auto const taken = *best;
    free.erase(best);
    return taken;
}

/// What other ranks sent to this one in pieces, one message after another from each. MPI carries a long piece only once
/// its receiver takes it; so a rank that waits for one message takes whatever comes meanwhile, or ranks that hear the
/// others in the same order would have the links of one after another busy, and those of all others idle. Pieces are
/// written where their message wants them. Reuses its memory.
class mpi_inbox {
  public:
    explicit mpi_inbox(MPI_Comm all) : all_(all) {}
    mpi_inbox(mpi_inbox const&) = delete;
    mpi_inbox& operator=(mpi_inbox const&) = delete;
    /// Waits for what it has begun to take.
    ~mpi_inbox() {
        for (auto& l : letters_) l.wait();
    }

    /// Waits for the next message of rank `from`, whose bytes then are the first of `bytes`.
    contribution take(int from, std::vector<std::byte>& bytes) {
        auto const r = static_cast<std::size_t>(from);
        for (;; look()) {
            if (r >= queues_.size() || queues_[r].first == none) continue;
            letter& next = letters_[queues_[r].first];
            if (!next.whole || !next.is_there()) continue;
            free_.push_back(std::exchange(queues_[r].first, next.behind));
            bytes.swap(next.bytes);
            return {std::span(bytes).first(next.count), next.complaint};
        }
    }

  private:
    static constexpr std::size_t none = static_cast<std::size_t>(-1);
    struct letter {
        bool complaint = false, whole = false;
        std::size_t count = 0, behind = none;  // bytes so far; which letter of the same rank comes next
        std::vector<std::byte> bytes{};
        std::vector<MPI_Request> requests{};  // of pieces

        bool is_there() {
            int all = 0;
            check_mpi(MPI_Testall(static_cast<int>(requests.size()), requests.data(), &all, MPI_STATUSES_IGNORE),
                      "MPI_Testall");
            return all != 0;
        }
        void wait() { MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE); }
    };
    struct queue {
        std::size_t first = none, last = none;
    };

    // Begins to take one more piece, if there is one.
    void look() {
        int found = 0, count = 0;
        MPI_Message piece = MPI_MESSAGE_NULL;
        MPI_Status status{};
        check_mpi(MPI_Improbe(MPI_ANY_SOURCE, MPI_ANY_TAG, all_, &found, &piece, &status), "MPI_Improbe");
        if (found == 0) return;
        check_mpi(MPI_Get_count(&status, MPI_BYTE, &count), "MPI_Get_count");
        auto const length = static_cast<std::size_t>(count), left = mpi_pieces::left(status.MPI_TAG);
        letter& l = letter_from(static_cast<std::size_t>(status.MPI_SOURCE), length * (left + 1));
        std::size_t const at = l.count;
        l.count += length;
        l.complaint = mpi_pieces::is_complaint(status.MPI_TAG);
        l.whole = left == 0;
        if (l.bytes.size() < l.count) {
            l.wait();  // MPI writes into the memory that goes
            // Of a message longer than its tags tell, as much more as they do tell, not twice what there is.
            l.bytes.reserve(at + length * (left + 1));
            l.bytes.resize(at + length * (left + 1));
        }
        check_mpi(MPI_Imrecv(l.bytes.data() + at, count, MPI_BYTE, &piece, &l.requests.emplace_back(MPI_REQUEST_NULL)),
                  "MPI_Imrecv");
    }
    // The one that a piece from this rank belongs to; a new one is to have so many bytes.
    letter& letter_from(std::size_t from, std::size_t bytes) {
        if (queues_.size() <= from) queues_.resize(from + 1);
        auto& q = queues_[from];
        if (q.first != none && !letters_[q.last].whole) return letters_[q.last];
        if (free_.empty()) {
            free_.push_back(letters_.size());
            letters_.emplace_back();
        }
        auto const place = take_room(free_, bytes, [&](std::size_t f) { return letters_[f].bytes.size(); });
        (q.first == none ? q.first : letters_[q.last].behind) = place;
        q.last = place;
        letter& l = letters_[place];
        l.count = 0;
        l.behind = none;
        l.requests.clear();
        return l;
    }

    MPI_Comm all_;
    std::vector<letter> letters_;
    std::vector<std::size_t> free_;
    std::vector<queue> queues_;  // of each rank
};

}  // namespace laconic::detail
