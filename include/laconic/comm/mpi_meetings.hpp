// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mpi.h>

#include <algorithm>
#include <climits>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "laconic/comm/communicator.hpp"
#include "laconic/comm/mpi_inbox.hpp"
#include "laconic/core/contract.hpp"
#include "laconic/core/error.hpp"

namespace laconic::detail {

/// MPI's communicator once more, whose errors come back.
struct mpi_duplicate {
    MPI_Comm all = MPI_COMM_NULL;
    explicit mpi_duplicate(MPI_Comm of) {
        check_mpi(MPI_Comm_dup(of, &all), "MPI_Comm_dup");
        MPI_Comm_set_errhandler(all, MPI_ERRORS_RETURN);
    }
    mpi_duplicate(mpi_duplicate const&) = delete;
    mpi_duplicate& operator=(mpi_duplicate const&) = delete;
    ~mpi_duplicate() { MPI_Comm_free(&all); }
};

/// The meetings of an MPI job's ranks, as Communicator and Overlapping have them. An envelope tells the length, and in
/// its lowest bit whether it is a complaint. Reuses its memory.
class mpi_meetings {
  public:
    /// MPI carries at most `longest` bytes at a time; what is started goes in pieces of at most `piece`.
    mpi_meetings(MPI_Comm all, std::size_t longest, std::size_t piece)
        : longest_(longest), piece_(std::min(piece, longest)), comm_(all), started_comm_(all) {
        if (longest < 1 || longest > INT_MAX)
            throw argument_error(std::to_string(longest) + " bytes at a time: MPI carries 1 to 2^31 - 1");
        check_mpi(MPI_Comm_rank(all, &rank_), "MPI_Comm_rank");
        check_mpi(MPI_Comm_size(all, &size_), "MPI_Comm_size");
        auto const n = static_cast<std::size_t>(size_);
        envelopes_.resize(n);
        for (auto* v : {&counts_, &places_}) v->resize(n);
        heard_.resize(n);
        arrived_.resize(n);
    }
    mpi_meetings(mpi_meetings const&) = delete;
    mpi_meetings& operator=(mpi_meetings const&) = delete;
    /// Finishes what was started, as MPI uses the memory that goes.
    ~mpi_meetings() {
        try {
            if (under_way_) finish();
        } catch (comm_error const&) {  // then there is nothing to wait for
        }
    }

    int rank() const { return rank_; }
    int size() const { return size_; }
    MPI_Comm comm() const { return comm_.all; }
    /// For what else goes through comm().
    void check_none_under_way() const { under_way_.check_none(); }

    void all_gather(contribution mine) {
        under_way_.check_none();
        std::uint64_t const envelope = seal(mine);
        check_mpi(MPI_Allgather(&envelope, 1, MPI_UINT64_T, envelopes_.data(), 1, MPI_UINT64_T, comm_.all),
                  "MPI_Allgather");
        lay_out();
        gather_bytes(mine);
    }

    // To each rank by itself: MPI_Iallgatherv would want to know how long the messages are. In pieces that MPI sends
    // off at once, as before a whole message it asks the receiver, who answers only when it calls MPI. Long messages go
    // to two others, and to the next one when one was heard: else all would send to each at the same time.
    void start_all_gather(contribution mine) {
        under_way_.check_none();
        auto& own = arrived_[static_cast<std::size_t>(rank_)];
        own.assign(mine.bytes.begin(), mine.bytes.end());
        heard_[static_cast<std::size_t>(rank_)] = {own, mine.complaint};
        told_ = 0;
        for (std::size_t n = 1; n <= 2 || n * own.size() <= most_at_once; ++n)
            if (!tell_next()) break;
        under_way_.start();
    }
    void finish() {
        under_way_.finish();
        for (int step = 1; step < size_; ++step) {
            int const from = (rank_ + size_ - step) % size_;
            auto const r = static_cast<std::size_t>(from);
            heard_[r] = inbox_.take(from, arrived_[r]);
            tell_next();
        }
        check_mpi(MPI_Waitall(static_cast<int>(sent_.size()), sent_.data(), MPI_STATUSES_IGNORE), "MPI_Waitall");
        sent_.clear();
    }

    /// Only the root waits for the others, but a long message waits until the root takes it.
    void gather(int root, contribution mine) {
        check_root(root);
        if (rank_ != root) {
            mpi_pieces::for_each(mine, longest_, [&](std::span<std::byte const> piece, int tag) {
                check_mpi(MPI_Send(piece.data(), static_cast<int>(piece.size()), MPI_BYTE, root, tag, comm_.all),
                          "MPI_Send");
            });
            std::fill(envelopes_.begin(), envelopes_.end(), 0);
            return lay_out();
        }
        std::size_t total = 0;
        for (int r = 0; r < size_; ++r) {
            auto& envelope = envelopes_[static_cast<std::size_t>(r)];
            envelope = r == root ? seal(mine) : receive(r, total);
            make_room(bytes_, total += envelope >> 1);
        }
        lay_out();
        std::copy(mine.bytes.begin(), mine.bytes.end(), place_of(static_cast<std::size_t>(root)));
    }
    void broadcast(int root, contribution mine) {
        check_root(root);
        std::fill(envelopes_.begin(), envelopes_.end(), 0);
        auto& envelope = envelopes_[static_cast<std::size_t>(root)];
        envelope = seal(mine);
        check_mpi(MPI_Bcast(&envelope, 1, MPI_UINT64_T, root, comm_.all), "MPI_Bcast");
        lay_out();
        broadcast_bytes(root, mine);
    }
    contribution from(int r) const {
        LACONIC_EXPECTS(r >= 0 && r < size_ && !under_way_);
        return heard_[static_cast<std::size_t>(r)];
    }

  private:
    static constexpr std::size_t most_at_once = 500000;  // bytes to one rank at the same time: switches hold as much

    static std::uint64_t seal(contribution c) { return std::uint64_t{c.bytes.size()} << 1 | (c.complaint ? 1 : 0); }
    void check_root(int root) const {
        under_way_.check_none();
        if (root < 0 || root >= size_)
            throw argument_error("the root is rank " + std::to_string(root) + " of " + std::to_string(size_));
    }
    static void make_room(std::vector<std::byte>& bytes, std::size_t n) {
        if (bytes.size() < n) bytes.resize(n);
    }
    // Where in bytes_ each rank's contribution lies, as the envelopes have it.
    void lay_out() {
        std::size_t total = 0;
        for (auto const e : envelopes_) total += e >> 1;
        make_room(bytes_, total);
        std::size_t at = 0;
        for (std::size_t r = 0; r < heard_.size(); ++r) {
            heard_[r] = {std::span(bytes_).subspan(at, envelopes_[r] >> 1), (envelopes_[r] & 1) != 0};
            at += envelopes_[r] >> 1;
        }
    }
    std::byte* place_of(std::size_t r) { return bytes_.data() + (heard_[r].bytes.data() - bytes_.data()); }
    // Everybody's bytes, once bytes_ is laid out.
    void gather_bytes(contribution mine) {
        std::size_t end = 0;
        for (auto const& h : heard_) end += h.bytes.size();
        if (end == 0) return;
        if (end > longest_) {
            for (int r = 0; r < size_; ++r) broadcast_bytes(r, mine);
            return;
        }
        for (std::size_t r = 0; r < heard_.size(); ++r) {
            counts_[r] = static_cast<int>(heard_[r].bytes.size());
            places_[r] = static_cast<int>(heard_[r].bytes.data() - bytes_.data());
        }
        check_mpi(MPI_Allgatherv(mine.bytes.data(), counts_[static_cast<std::size_t>(rank_)], MPI_BYTE, bytes_.data(),
                                 counts_.data(), places_.data(), MPI_BYTE, comm_.all),
                  "MPI_Allgatherv");
    }
    void broadcast_bytes(int root, contribution mine) {
        auto const r = static_cast<std::size_t>(root);
        auto const length = heard_[r].bytes.size();
        if (rank_ == root) std::copy(mine.bytes.begin(), mine.bytes.end(), place_of(r));
        for (std::size_t at = 0; at < length; at += longest_)
            check_mpi(MPI_Bcast(place_of(r) + at, static_cast<int>(std::min(longest_, length - at)), MPI_BYTE, root,
                                comm_.all),
                      "MPI_Bcast");
    }
    // Writes what rank `from` sent into bytes_ from `at` on, and returns its envelope.
    std::uint64_t receive(int from, std::size_t at) {
        std::size_t const begin = at;
        MPI_Message message = MPI_MESSAGE_NULL;
        MPI_Status status{};
        int count = 0;
        do {
            check_mpi(MPI_Mprobe(from, MPI_ANY_TAG, comm_.all, &message, &status), "MPI_Mprobe");
            check_mpi(MPI_Get_count(&status, MPI_BYTE, &count), "MPI_Get_count");
            make_room(bytes_, at + static_cast<std::size_t>(count));
            check_mpi(MPI_Mrecv(bytes_.data() + at, count, MPI_BYTE, &message, &status), "MPI_Mrecv");
            at += static_cast<std::size_t>(count);
        } while (mpi_pieces::left(status.MPI_TAG) != 0);
        return std::uint64_t{at - begin} << 1 | (mpi_pieces::is_complaint(status.MPI_TAG) ? 1 : 0);
    }

    // Sends what was started to the next rank; false where all have it. No two ranks begin with the same.
    bool tell_next() {
        if (told_ == size_ - 1) return false;
        int const to = (rank_ + ++told_) % size_;
        mpi_pieces::for_each(heard_[static_cast<std::size_t>(rank_)], piece_,
                             [&](std::span<std::byte const> bytes, int tag) {
                                 check_mpi(MPI_Isend(bytes.data(), static_cast<int>(bytes.size()), MPI_BYTE, to, tag,
                                                     started_comm_.all, &sent_.emplace_back(MPI_REQUEST_NULL)),
                                           "MPI_Isend");
                             });
        return true;
    }

    std::size_t longest_, piece_;
    mpi_duplicate comm_;
    int rank_ = 0, size_ = 1;
    std::vector<std::uint64_t> envelopes_;
    std::vector<int> counts_, places_;
    std::vector<std::byte> bytes_;
    std::vector<contribution> heard_;
    // Of all-gathers that are started, over a communicator of their own: what each rank has said.
    mpi_duplicate started_comm_;
    mpi_inbox inbox_{started_comm_.all};
    std::vector<std::vector<std::byte>> arrived_;
    std::vector<MPI_Request> sent_;
    int told_ = 0;  // to how many of them it is sent
    under_way under_way_;
};

}  // namespace laconic::detail
