// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mpi.h>

#include <algorithm>
#include <chrono>
#include <climits>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <utility>
#include <vector>

#include "laconic/comm/communicator.hpp"
#include "laconic/comm/mpi_inbox.hpp"
#include "laconic/comm/mpi_lanes.hpp"
#include "laconic/comm/mpi_outbox.hpp"
#include "laconic/core/contract.hpp"
#include "laconic/core/error.hpp"
#include "laconic/core/text.hpp"
#include "laconic/core/view.hpp"

namespace laconic::detail {

/// The collective calls of an MPI job's ranks, as Communicator, Overlapping and AllReducer describe them. Without a
/// deadline broadcasts and all-reduces are MPI's, and each begins with an envelope from every rank: the length, and in
/// its lowest bit the mark of an error frame. A rank that leaves sends envelopes with that notice until all leave, so
/// that none waits for it. All else, and all with a deadline or in a part of the ranks, as MPI cannot abandon a
/// collective, is sent from rank to rank. Reuses its memory.
class mpi_collectives {
  public:
    /// MPI carries at most `longest` bytes in one call; messages from rank to rank go in pieces of at most `piece`
    /// bytes. `names` are the numbers of a part's ranks in errors.
    mpi_collectives(MPI_Comm all, std::size_t longest, std::size_t piece, std::chrono::milliseconds longest_wait = {},
                    std::vector<int> names = {})
        : longest_(longest),
          one_by_one_(longest_wait.count() > 0 || !names.empty()),
          wait_{deadline(longest_wait), {}, false, {}, std::move(names)},
          comm_(all),
          lanes_(all, std::min(piece, longest), wait_) {
        if (longest < 1 || longest > INT_MAX)
            throw argument_error(concat({longest, " bytes at a time: MPI carries 1 to 2^31 - 1"}));
        if (piece < 1) throw argument_error("pieces of 0 bytes");
        check_mpi(MPI_Comm_rank(all, &rank_), "MPI_Comm_rank");
        check_mpi(MPI_Comm_size(all, &size_), "MPI_Comm_size");
        envelopes_.resize(static_cast<std::size_t>(size_));
    }
    mpi_collectives(mpi_collectives const&) = delete;
    mpi_collectives& operator=(mpi_collectives const&) = delete;
    /// Leaves, and waits until it is over. Where this rank gave up it must not be destroyed: MPI may use it until the
    /// process ends.
    ~mpi_collectives() {
        try {
            leave();
            while (!is_over()) {
            }
        } catch (comm_error const&) {  // MPI itself has failed
        }
    }

    /// Sends the others the notice that this rank leaves: only is_over() may be called after it. Where the calls are
    /// MPI's collectives it waits until all leave, else it does not wait.
    void leave() {
        if (std::exchange(left_, true)) return;
        lanes_.leave();
        if (!one_by_one_) do
                share(gone);
            while (std::count(envelopes_.begin(), envelopes_.end(), gone) < size_);
    }
    /// After leave(): receives what has come. Returns whether all others have left too, and MPI uses nothing of this
    /// any more.
    bool is_over() { return lanes_.is_over(); }

    int rank() const { return rank_; }
    int size() const { return size_; }
    MPI_Comm comm() const { return comm_.all; }
    mpi_wait& wait() { return wait_; }
    /// For the other calls: throws where an all-gather is in flight, or where the ranks cannot go on.
    void require_ready() const {
        lanes_.started().check_none();
        wait_.check();
    }

    void all_gather(payload mine) { show(lanes_.all_gather(mine)); }
    void start_all_gather(payload mine, int lane = 0) {
        lanes_.start(mine, lane);
        current_ = nullptr;
    }
    void finish(int lane = 0) { show(lanes_.finish(lane)); }

    /// Only the root waits for the others, but a long message waits until the root receives it.
    void gather(int root, payload mine) {
        check_root(root);
        show(lanes_.gather(root, mine));
    }
    void broadcast(int root, payload mine) {
        check_root(root);
        if (one_by_one_) return show(lanes_.broadcast(root, mine));
        begin_collective(rank_ == root ? envelope_of(mine) : 0);
        auto const envelope = envelopes_[static_cast<std::size_t>(root)];
        std::size_t const length = envelope >> 1;
        bytes_.resize(std::max(bytes_.size(), length));
        if (rank_ == root) std::copy(mine.bytes.begin(), mine.bytes.end(), bytes_.begin());
        for (std::size_t at = 0; at < length; at += longest_)
            check_mpi(MPI_Bcast(bytes_.data() + at, static_cast<int>(std::min(longest_, length - at)), MPI_BYTE, root,
                                comm_.all),
                      "MPI_Bcast");
        received_.assign(envelopes_.size(), {});
        received_[static_cast<std::size_t>(root)] = {std::span(bytes_).first(length), (envelope & 1) != 0};
        show(received_);
    }
    /// Throws shape_error on all ranks where their lengths differ.
    template <Scalar T>
    void all_reduce(std::span<T> x) {
        require_ready();
        std::uint64_t const count = x.size();
        if (one_by_one_) {
            auto const& all = lanes_.all_gather({std::as_bytes(std::span(&count, 1))});
            for (std::size_t r = 0; r < all.size(); ++r) std::memcpy(&envelopes_[r], all[r].bytes.data(), 8);
        } else {
            begin_collective(count);
        }
        for (std::size_t r = 0; r < envelopes_.size(); ++r)
            if (envelopes_[r] != envelopes_[0])
                throw shape_error(concat({"rank ", wait_.name(static_cast<int>(r)), " adds up ", envelopes_[r],
                                          " numbers, rank ", wait_.name(0), " ", envelopes_[0]}));
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
            auto const until = wait_.longest.from_now();
            for (int over = 0; over == 0;) {
                check_mpi(MPI_Test(&request, &over, MPI_STATUS_IGNORE), "MPI_Test");
                lanes_.inbox().look();
                wait_.check();
                if (over == 0 && wait_.longest.is_over(until)) wait_.timed_out(-1, " did not add up");
            }
            std::copy(sum_.begin(), sum_.end(), bytes.begin());
        }
    }
    payload from(int r) const {
        LACONIC_EXPECTS(r >= 0 && r < size_ && current_);
        return (*current_)[static_cast<std::size_t>(r)];
    }

  private:
    static constexpr std::uint64_t gone = ~std::uint64_t{0};  // the envelope of a rank that leaves

    void show(std::vector<payload> const& all) { current_ = &all; }
    static std::uint64_t envelope_of(payload c) { return std::uint64_t{c.bytes.size()} << 1 | (c.is_error ? 1 : 0); }
    void check_root(int root) const {
        require_ready();
        if (root < 0 || root >= size_) throw argument_error(concat({"the root is rank ", root, " of ", size_}));
    }
    void share(std::uint64_t envelope) {
        check_mpi(MPI_Allgather(&envelope, 1, MPI_UINT64_T, envelopes_.data(), 1, MPI_UINT64_T, comm_.all),
                  "MPI_Allgather");
    }
    // Shares the envelopes; throws where a rank has left.
    void begin_collective(std::uint64_t envelope) {
        share(envelope);
        if (std::count(envelopes_.begin(), envelopes_.end(), gone) > 0) lanes_.inbox().raise_notice();
    }

    std::size_t longest_;
    bool one_by_one_;
    mpi_wait wait_;
    mpi_duplicate comm_;
    int rank_ = 0, size_ = 1;
    std::vector<std::uint64_t> envelopes_;
    std::vector<std::byte> bytes_;
    std::vector<payload> received_;
    mpi_lanes lanes_;
    std::vector<payload> const* current_ = nullptr;
    std::vector<std::byte> sum_;
    bool left_ = false;
};

}  // namespace laconic::detail
