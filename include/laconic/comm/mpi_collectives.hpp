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

#include "laconic/comm/mpi_lanes.hpp"
#include "laconic/core/view.hpp"

namespace laconic::detail {

/// The collective calls of an MPI job's ranks, as Communicator, Overlapping and AllReducer describe them. Without a
/// deadline broadcasts and all-reduces are MPI's, and each begins with an envelope from every rank: the length, and in
/// its lowest bit the mark of an error frame. A rank that leaves sends envelopes with that notice until all leave, so
/// that none waits for it. All else, and all with a deadline or in a part of the ranks, as MPI cannot abandon a
/// collective, is sent from rank to rank. Reuses its memory.
class mpi_collectives : public mpi_lanes {
  public:
    /// MPI carries at most `longest` bytes in one call; messages from rank to rank go in pieces of at most `piece`
    /// bytes. `names` are the numbers of a part's ranks in errors.
    mpi_collectives(MPI_Comm all, std::size_t longest, std::size_t piece, std::chrono::milliseconds longest_wait = {},
                    std::vector<int> names = {})
        : mpi_lanes(all, std::min(piece, longest), {deadline(longest_wait), {}, false, {}, std::move(names)}),
          longest_(longest),
          one_by_one_(longest_wait.count() > 0 || !wait().names.empty()),
          comm_(all),
          envelopes_(static_cast<std::size_t>(size())) {
        if (longest < 1 || longest > INT_MAX)
            throw argument_error(concat({longest, " bytes at a time: MPI carries 1 to 2^31 - 1"}));
        if (piece < 1) throw argument_error("pieces of 0 bytes");
    }
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
        mpi_lanes::leave();
        if (!one_by_one_) do
                share(gone);
            while (std::count(envelopes_.begin(), envelopes_.end(), gone) < size());
    }

    MPI_Comm comm() const { return comm_.all; }

    /// Only the root waits for the others, but a long message waits until the root receives it.
    void gather(int root, payload mine) {
        check_root(root);
        mpi_lanes::gather(root, mine);
    }
    void broadcast(int root, payload mine) {
        check_root(root);
        if (one_by_one_) return mpi_lanes::broadcast(root, mine);
        begin_collective(rank() == root ? envelope_of(mine) : 0);
        auto const envelope = envelopes_[static_cast<std::size_t>(root)];
        std::size_t const length = envelope >> 1;
        bytes_.resize(std::max(bytes_.size(), length));
        if (rank() == root) std::copy(mine.bytes.begin(), mine.bytes.end(), bytes_.begin());
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
            all_gather({std::as_bytes(std::span(&count, 1))});
            for (int r = 0; r < size(); ++r)
                std::memcpy(&envelopes_[static_cast<std::size_t>(r)], from(r).bytes.data(), sizeof count);
        } else {
            begin_collective(count);
        }
        for (std::size_t r = 0; r < envelopes_.size(); ++r)
            if (envelopes_[r] != envelopes_[0])
                throw shape_error(concat({"rank ", wait().name(static_cast<int>(r)), " adds up ", envelopes_[r],
                                          " numbers, rank ", wait().name(0), " ", envelopes_[0]}));
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

  private:
    static constexpr std::uint64_t gone = ~std::uint64_t{0};  // the envelope of a rank that leaves

    static std::uint64_t envelope_of(payload c) { return std::uint64_t{c.bytes.size()} << 1 | (c.is_error ? 1 : 0); }
    void check_root(int root) const {
        require_ready();
        if (root < 0 || root >= size()) throw argument_error(concat({"the root is rank ", root, " of ", size()}));
    }
    void share(std::uint64_t envelope) {
        check_mpi(MPI_Allgather(&envelope, 1, MPI_UINT64_T, envelopes_.data(), 1, MPI_UINT64_T, comm_.all),
                  "MPI_Allgather");
    }
    // Shares the envelopes; throws where a rank has left.
    void begin_collective(std::uint64_t envelope) {
        share(envelope);
        if (std::count(envelopes_.begin(), envelopes_.end(), gone) > 0) inbox().raise_notice();
    }

    std::size_t longest_;
    bool one_by_one_;
    mpi_duplicate comm_;
    std::vector<std::uint64_t> envelopes_;
    std::vector<std::byte> bytes_;
    std::vector<payload> received_;
    std::vector<std::byte> sum_;
    bool left_ = false;
};

}  // namespace laconic::detail
