// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mpi.h>

#include <algorithm>
#include <chrono>
#include <climits>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "laconic/comm/mpi_lanes.hpp"
#include "laconic/core/view.hpp"

namespace laconic::detail {

/// All memory that MPI may use of an mpi::member: exchanges, and the collective calls that Communicator, Overlapping
/// and AllReducer describe, each over communicators of their own. Without a deadline broadcasts and all-reduces are
/// MPI's, and before each all ranks gather its length, and whether it is of an error frame: there a rank that has left
/// is found, so that none waits for it in MPI. All else, and all with a deadline or in a part of the ranks, as MPI
/// cannot abandon a collective, is sent from rank to rank. Reuses its memory.
class mpi_end : public mpi_lanes {
  public:
    /// MPI carries at most `longest` bytes in one call; messages from rank to rank go in pieces of at most `piece`
    /// bytes. `names` are the numbers of a part's ranks in errors.
    mpi_end(MPI_Comm all, std::size_t longest, std::size_t piece, std::chrono::milliseconds longest_wait,
            std::vector<int> names)
        : mpi_lanes(all, std::min(piece, longest), {deadline(longest_wait), {}, false, {}, std::move(names)}),
          longest_(longest),
          one_by_one_(longest_wait.count() > 0 || is_part()),
          comm_(all),
          pairs_(all),
          lengths_(static_cast<std::size_t>(size())) {
        if (longest < 1 || longest > INT_MAX)
            throw argument_error({longest, " bytes at a time: MPI carries 1 to 2^31 - 1"});
        if (piece < 1) throw argument_error("pieces of 0 bytes");
    }
    /// Leaves, and waits until it is over. Where this rank gave up it must not be destroyed: MPI may use it until the
    /// process ends.
    ~mpi_end() {
        try {
            leave();
            while (!is_over()) {
            }
        } catch (comm_error const&) {  // MPI itself has failed
        }
    }
    /// Sends the others the notice that this rank leaves: only is_over() may be called after it. Does not wait.
    void leave() {
        pairs_inbox_.leave();
        mpi_lanes::leave();
    }
    /// After leave(): receives what has come. Returns whether all others have left too, and MPI uses nothing of this
    /// any more.
    bool is_over() {
        return mpi_lanes::is_over() && pairs_inbox_.is_over() &&
               std::all_of(waiting_.begin(), waiting_.end(), [&](std::size_t w) { return sent_[w].is_over(); });
    }
    /// Whether MPI may use this until the process ends, as a deadline has passed, and then the reason; else "".
    bool gave_up() { return wait().gave_up; }
    std::string why_gave_up() { return gave_up() ? wait().why.why() : std::string(); }

    bool is_part() { return !wait().names.empty(); }
    MPI_Comm comm() const { return comm_.all; }

    /// Only the root waits for the others, but a long message waits until the root receives it.
    void gather(int root, payload mine) {
        require_root(root);
        mpi_lanes::gather(root, mine);
    }
    void broadcast(int root, payload mine) {
        require_root(root);
        if (one_by_one_) return mpi_lanes::broadcast(root, mine);
        gather_lengths(std::uint64_t{mine.bytes.size()} << 1 | (mine.is_error ? 1 : 0));
        auto const envelope = lengths_[static_cast<std::size_t>(root)];
        std::size_t const length = envelope >> 1;
        bytes_.resize(std::max(bytes_.size(), length));
        if (rank() == root) std::copy(mine.bytes.begin(), mine.bytes.end(), bytes_.begin());
        for (std::size_t at = 0; at < length; at += longest_)
            check_mpi(MPI_Bcast(bytes_.data() + at, static_cast<int>(std::min(longest_, length - at)), MPI_BYTE, root,
                                comm_.all),
                      "MPI_Bcast");
        show(root, {std::span(bytes_).first(length), (envelope & 1) != 0});
    }
    /// Throws shape_error on all ranks where their lengths differ.
    template <Scalar T>
    void all_reduce(std::span<T> x) {
        require_ready();
        gather_lengths(x.size());
        for (std::size_t r = 0; r < lengths_.size(); ++r)
            if (lengths_[r] != lengths_[0])
                throw shape_error({"rank ", wait().name(static_cast<int>(r)), " adds up ", lengths_[r],
                                   " numbers, rank ", wait().name(0), " ", lengths_[0]});
        MPI_Datatype const type = std::same_as<T, float> ? MPI_FLOAT : MPI_DOUBLE;
        for (std::size_t const most = std::max<std::size_t>(longest_ / sizeof(T), 1); !x.empty();) {
            auto const piece = x.first(std::min(most, x.size()));
            x = x.subspan(piece.size());
            auto const n = static_cast<int>(piece.size());
            if (!one_by_one_) {
                check_mpi(MPI_Allreduce(MPI_IN_PLACE, piece.data(), n, type, MPI_SUM, comm_.all), "MPI_Allreduce");
                continue;
            }
            // Not in the caller's memory, which MPI would go on using after a deadline.
            auto const bytes = std::as_writable_bytes(piece);
            sum_.assign(bytes.begin(), bytes.end());
            MPI_Request request = MPI_REQUEST_NULL;
            check_mpi(MPI_Iallreduce(MPI_IN_PLACE, sum_.data(), n, type, MPI_SUM, comm_.all, &request),
                      "MPI_Iallreduce");
            auto const until = wait().longest.from_now();
            for (int over = 0; over == 0;) {
                check_mpi(MPI_Test(&request, &over, MPI_STATUS_IGNORE), "MPI_Test");
                inbox().look();
                wait().check();
                if (over == 0 && wait().longest.is_over(until)) wait().timed_out(-1, " did not add up");
            }
            std::copy(sum_.begin(), sum_.end(), bytes.begin());
        }
    }

    /// As PointToPoint describes it.
    payload exchange(int to, payload mine, int from) {
        check_partners(size(), to, from);
        require_ready();
        if (to != no_rank) {
            auto& s = room_to_send(mine.bytes.size());
            s.bytes.assign(mine.bytes.begin(), mine.bytes.end());
            mpi_pieces::for_each({s.bytes, mine.is_error}, piece(), [&](std::span<std::byte const> piece, int tag) {
                start_to_send(piece, to, tag, pairs_.all, s.requests);
            });
        }
        if (from == no_rank) return {};
        return pairs_inbox_.take(from, received_);
    }

  private:
    void require_root(int root) const {
        require_ready();
        check_root(size(), root);
    }
    // Throws where a rank has left.
    void gather_lengths(std::uint64_t mine) {
        from_all(*this, mine, "a length",
                 [&](int r, std::uint64_t theirs) { lengths_[static_cast<std::size_t>(r)] = theirs; });
    }

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

    std::size_t longest_;
    bool one_by_one_;
    mpi_duplicate comm_;   // of MPI's collectives
    mpi_duplicate pairs_;  // of exchanges
    mpi_inbox pairs_inbox_{pairs_, wait()};
    std::vector<std::byte> received_;  // by an exchange
    std::vector<sending> sent_;
    std::vector<std::size_t> waiting_, free_;  // indices into sent_
    std::size_t turn_ = 0;
    std::vector<std::uint64_t> lengths_;
    std::vector<std::byte> bytes_, sum_;  // of a broadcast, of an all-reduce
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
