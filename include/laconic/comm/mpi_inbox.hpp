// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mpi.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "laconic/comm/deadline.hpp"
#include "laconic/comm/mailbox.hpp"
#include "laconic/comm/mpi_pieces.hpp"

namespace laconic::detail {

class mpi_inbox;

/// How long a rank waits for the others, and why it cannot go on with them.
struct mpi_wait {
    deadline longest;
    abort_reason why;
    bool gave_up = false;               // a deadline has passed: MPI may go on to use the memory of unfinished calls
    std::vector<mpi_inbox*> inboxes{};  // which send the reason to the others
    std::vector<int> names{};           // the numbers of the ranks in errors; empty: their own
    char const* advice = "";            // at the end of the error of a deadline

    int name(int rank) const { return rank < 0 || names.empty() ? rank : names[static_cast<std::size_t>(rank)]; }
    void check() const {
        if (why) why.raise();
    }
    /// Records the reason, sends it to the others as the last message of this rank, and throws it.
    [[noreturn]] void fail(int culprit, std::string text);
    [[noreturn]] void timed_out(int rank, std::string const& what) {
        gave_up = true;
        auto const who = rank < 0 ? std::string("MPI") : concat({"rank ", name(rank)});
        fail(name(rank), concat({who, what, " within ", longest.text(), advice}));
    }
};

/// The messages that other ranks sent to this one in pieces, one after another from each. MPI transfers a long piece
/// only once its receiver takes it; so a rank that waits for one message takes whatever comes meanwhile. Otherwise
/// ranks that receive from the others in the same order would keep the links of one after another busy, and those of
/// all others idle. Pieces are written to their place in the message. A rank's last message is the notice that it
/// leaves, with the reason. Reuses its memory.
class mpi_inbox {
  public:
    /// For one use of `all`; its errors and its waits are those of `how`. Where that gave up, MPI may write here until
    /// the process ends.
    mpi_inbox(mpi_duplicate const& all, mpi_wait& how)
        : all_(all.all), how_(&how), rank_(all.rank()), queues_(static_cast<std::size_t>(all.size())) {
        how.inboxes.push_back(this);
    }
    mpi_inbox(mpi_inbox const&) = delete;
    mpi_inbox& operator=(mpi_inbox const&) = delete;
    /// Waits for the receives that it has begun.
    ~mpi_inbox() {
        std::erase(how_->inboxes, this);
        for (auto& l : incoming_) l.wait();
        MPI_Waitall(static_cast<int>(notices_.size()), notices_.data(), MPI_STATUSES_IGNORE);
    }

    /// Waits for the next message of rank `from`, and puts its bytes at the start of `bytes`. Throws comm_error where
    /// that rank left before, or sends none before the deadline. With `all_come`, in a collective call, the error names
    /// the first of the ranks from this one down to the next above the own that did not come.
    payload take(int from, std::vector<std::byte>& bytes, bool all_come = false) {
        auto const until = how_->longest.from_now();
        auto& q = queues_[static_cast<std::size_t>(from)];
        for (;; look()) {
            if (q.first != none && incoming_[q.first].whole) {
                incoming& next = incoming_[q.first];
                if (are_over(next.requests)) {
                    free_.push_back(std::exchange(q.first, next.behind));
                    bytes.swap(next.bytes);
                    return {std::span(bytes).first(next.count), next.is_error};
                }
            } else if (q.left) {
                raise_notice(from);
            }
            how_->check();
            if (!how_->longest.is_over(until)) continue;
            int const slowest = all_come ? first_missing(from) : from;
            bool const begun = queues_[static_cast<std::size_t>(slowest)].begun();
            how_->timed_out(slowest, begun      ? " did not send all of its message"
                                     : all_come ? " did not come"
                                                : " sent nothing");
        }
    }

    /// A message that this rank had announced was taken.
    void forget_coming(int from) { --queues_[static_cast<std::size_t>(from)].coming; }

    /// The number of ranks whose notice has been read.
    std::size_t left() const { return left_; }
    bool has_left(int rank) const { return queues_[static_cast<std::size_t>(rank)].left.has_value(); }
    /// Throws the reason for which this rank left, from its notice.
    [[noreturn]] void raise_notice(int rank) {
        auto const& q = queues_[static_cast<std::size_t>(rank)];
        how_->fail(q.left->culprit, q.left->why);
    }
    /// Sends all others the notice that this rank sends nothing more, and why; once.
    void leave() {
        if (!notices_.empty()) return;
        bool const failed = static_cast<bool>(how_->why);
        head const first{failed ? how_->why.rank() : how_->name(rank_), how_->gave_up ? 1 : 0};
        auto const why = failed ? how_->why.why() : abort_reason::left(how_->name(rank_));
        notice_.resize(sizeof first + why.size());
        std::memcpy(notice_.data(), &first, sizeof first);
        std::copy(why.begin(), why.end(), notice_.begin() + sizeof first);
        for (int r = 0; r < static_cast<int>(queues_.size()); ++r)
            if (r != rank_) start_to_send(std::as_bytes(std::span(notice_)), r, mpi_pieces::notice, all_, notices_);
    }
    /// After leave(): receives what has come, so that no other rank waits for this one to take a message. Returns
    /// whether all others have left and MPI uses nothing of this any more.
    bool is_over() {
        look_at_all();
        return left_ + 1 == queues_.size() && are_over(notices_) &&
               std::all_of(incoming_.begin(), incoming_.end(), [](incoming& l) { return are_over(l.requests); });
    }

    /// Begins to receive all that has come.
    void look_at_all() {
        while (look()) {
        }
    }
    /// Begins to receive one more piece; returns whether there was one.
    bool look() {
        int found = 0, count = 0;
        MPI_Message piece = MPI_MESSAGE_NULL;
        MPI_Status status{};
        check_mpi(MPI_Improbe(MPI_ANY_SOURCE, MPI_ANY_TAG, all_, &found, &piece, &status), "MPI_Improbe");
        if (found == 0) return false;
        check_mpi(MPI_Get_count(&status, MPI_BYTE, &count), "MPI_Get_count");
        if (status.MPI_TAG == mpi_pieces::notice) {
            note(status.MPI_SOURCE, count, piece);
            return true;
        }
        if (status.MPI_TAG == mpi_pieces::came) {
            check_mpi(MPI_Mrecv(nullptr, 0, MPI_BYTE, &piece, MPI_STATUS_IGNORE), "MPI_Mrecv");
            ++queues_[static_cast<std::size_t>(status.MPI_SOURCE)].coming;
            return true;
        }
        auto const length = static_cast<std::size_t>(count), left = mpi_pieces::left(status.MPI_TAG);
        incoming& l = incoming_from(static_cast<std::size_t>(status.MPI_SOURCE), length * (left + 1));
        std::size_t const at = l.count;
        l.count += length;
        l.is_error = mpi_pieces::is_error(status.MPI_TAG);
        l.whole = left == 0;
        if (l.bytes.size() < l.count) {
            l.wait();  // MPI still writes into the memory that is freed
            // A message longer than its tags can state grows by as much as they state, not to twice its size.
            l.bytes.reserve(at + length * (left + 1));
            l.bytes.resize(at + length * (left + 1));
        }
        check_mpi(MPI_Imrecv(l.bytes.data() + at, count, MPI_BYTE, &piece, &l.requests.emplace_back(MPI_REQUEST_NULL)),
                  "MPI_Imrecv");
        return true;
    }

  private:
    static constexpr std::size_t none = static_cast<std::size_t>(-1);
    struct incoming {
        bool is_error = false, whole = false;
        std::size_t count = 0, behind = none;  // bytes so far; the next message of the same rank
        std::vector<std::byte> bytes{};
        std::vector<MPI_Request> requests{};  // of pieces

        void wait() { MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE); }
    };
    struct head {  // of a notice, before the text
        int culprit, gave_up;
    };
    struct reason {
        int culprit;
        std::string why;
    };
    struct queue {
        std::size_t first = none, last = none;
        std::optional<reason> left{};
        int coming = 0;  // messages that it has announced and this rank has not taken

        bool begun() const { return first != none || coming > 0; }
    };

    void note(int rank, int bytes, MPI_Message notice) {
        std::string text(static_cast<std::size_t>(bytes), ' ');
        check_mpi(MPI_Mrecv(text.data(), bytes, MPI_BYTE, &notice, MPI_STATUS_IGNORE), "MPI_Mrecv");
        head first{};
        std::memcpy(&first, text.data(), sizeof first);
        text.erase(0, sizeof first);
        if (first.gave_up != 0) {  // it receives nothing any more: this rank does not wait for it
            how_->gave_up = true;
            how_->why.is(first.culprit, text);
        }
        queues_[static_cast<std::size_t>(rank)].left = {first.culprit, std::move(text)};
        ++left_;
    }
    // The first of the ranks from this one down to the next above the own from which nothing has come; else this one.
    int first_missing(int from) const {
        int const n = static_cast<int>(queues_.size());
        for (int r = from; r != rank_; r = (r + n - 1) % n)
            if (!queues_[static_cast<std::size_t>(r)].begun()) return r;
        return from;
    }
    // The message that a piece from this rank belongs to; a new one should have so many bytes.
    incoming& incoming_from(std::size_t from, std::size_t bytes) {
        auto& q = queues_[from];
        if (q.first != none && !incoming_[q.last].whole) return incoming_[q.last];
        if (free_.empty()) {
            free_.push_back(incoming_.size());
            incoming_.emplace_back();
        }
        auto const place = take_room(free_, bytes, [&](std::size_t f) { return incoming_[f].bytes.size(); });
        (q.first == none ? q.first : incoming_[q.last].behind) = place;
        q.last = place;
        incoming& l = incoming_[place];
        l.count = 0;
        l.behind = none;
        l.requests.clear();
        return l;
    }

    MPI_Comm all_;
    mpi_wait* how_;
    int rank_;
    std::vector<incoming> incoming_;
    std::vector<std::size_t> free_;
    std::vector<queue> queues_;  // of each rank
    std::size_t left_ = 0;
    std::vector<char> notice_;  // this rank's own
    std::vector<MPI_Request> notices_;
};

inline void mpi_wait::fail(int culprit, std::string text) {
    why.is(culprit, std::move(text));
    for (auto* inbox : inboxes) inbox->leave();
    why.raise();
}

}  // namespace laconic::detail
