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
    mpi_meetings(MPI_Comm all, std::size_t longest) : longest_(longest), comm_(all) {
        if (longest < 1 || longest > INT_MAX)
            throw argument_error(std::to_string(longest) + " bytes at a time: MPI carries 1 to 2^31 - 1");
        check_mpi(MPI_Comm_rank(all, &rank_), "MPI_Comm_rank");
        check_mpi(MPI_Comm_size(all, &size_), "MPI_Comm_size");
        auto const n = static_cast<std::size_t>(size_);
        for (auto* v : {&envelopes_, &expected_}) v->resize(n);
        for (auto* v : {&counts_, &places_}) v->resize(n);
        heard_.resize(n);
    }
    mpi_meetings(mpi_meetings const&) = delete;
    mpi_meetings& operator=(mpi_meetings const&) = delete;
    /// Waits for what was started, as MPI writes into the memory that goes.
    ~mpi_meetings() { MPI_Wait(&started_, MPI_STATUS_IGNORE); }

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
        gather_rests(mine, [](std::size_t) { return std::size_t{0}; });
    }

    // How long a message is the others learn with it. So the envelope takes along as many bytes as the last time were
    // said by this rank, and a sixteenth more, and only what exceeds that travels while the ranks wait in finish().
    void start_all_gather(contribution mine) {
        under_way_.check_none();
        std::size_t total = 0;
        for (auto const e : expected_) total += envelope_bytes + e;
        if (total > longest_) std::fill(expected_.begin(), expected_.end(), 0);
        int at = 0;
        for (std::size_t r = 0; r < expected_.size(); at += counts_[r++]) {
            counts_[r] = static_cast<int>(envelope_bytes + expected_[r]);
            places_[r] = at;
        }
        make_room(arrived_, static_cast<std::size_t>(at));
        auto const me = static_cast<std::size_t>(rank_);
        make_room(leaving_, static_cast<std::size_t>(counts_[me]));
        std::uint64_t const envelope = seal(mine);
        std::memcpy(leaving_.data(), &envelope, envelope_bytes);
        std::copy_n(mine.bytes.begin(), early(me, mine.bytes.size()), leaving_.begin() + envelope_bytes);
        check_mpi(MPI_Iallgatherv(leaving_.data(), counts_[me], MPI_BYTE, arrived_.data(), counts_.data(),
                                  places_.data(), MPI_BYTE, comm_.all, &started_),
                  "MPI_Iallgatherv");
        mine_ = mine;
        under_way_.start();
    }
    void finish() {
        under_way_.finish();
        check_mpi(MPI_Wait(&started_, MPI_STATUS_IGNORE), "MPI_Wait");
        for (std::size_t r = 0; r < heard_.size(); ++r)
            std::memcpy(&envelopes_[r], arrived_.data() + places_[r], envelope_bytes);
        lay_out();
        for (std::size_t r = 0; r < heard_.size(); ++r)
            std::copy_n(arrived_.begin() + places_[r] + envelope_bytes, early(r, heard_[r].bytes.size()), place_of(r));
        gather_rests(mine_, [this](std::size_t r) { return early(r, heard_[r].bytes.size()); });
        for (std::size_t r = 0; r < heard_.size(); ++r)
            expected_[r] = heard_[r].bytes.size() + heard_[r].bytes.size() / 16;
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
        broadcast_rest(root, mine, 0);
    }
    contribution from(int r) const {
        LACONIC_EXPECTS(r >= 0 && r < size_ && !under_way_);
        return heard_[static_cast<std::size_t>(r)];
    }

  private:
    static constexpr std::size_t envelope_bytes = sizeof(std::uint64_t);

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
    // How much of rank r's message came with its envelope.
    std::size_t early(std::size_t r, std::size_t length) const { return std::min<std::size_t>(expected_[r], length); }

    // Everybody's bytes without the first here(r) of rank r's, which are there.
    template <class Here>
    void gather_rests(contribution mine, Here here) {
        std::size_t end = 0, missing = 0;
        for (std::size_t r = 0; r < heard_.size(); ++r) {
            end += heard_[r].bytes.size();
            missing += heard_[r].bytes.size() - here(r);
        }
        if (missing == 0) return;
        if (end > longest_) {
            for (int r = 0; r < size_; ++r) broadcast_rest(r, mine, here(static_cast<std::size_t>(r)));
            return;
        }
        for (std::size_t r = 0; r < heard_.size(); ++r) {
            counts_[r] = static_cast<int>(heard_[r].bytes.size() - here(r));
            places_[r] = static_cast<int>(heard_[r].bytes.data() - bytes_.data()) + static_cast<int>(here(r));
        }
        auto const me = static_cast<std::size_t>(rank_);
        check_mpi(MPI_Allgatherv(mine.bytes.data() + here(me), counts_[me], MPI_BYTE, bytes_.data(), counts_.data(),
                                 places_.data(), MPI_BYTE, comm_.all),
                  "MPI_Allgatherv");
    }
    // The root's bytes from `at` on.
    void broadcast_rest(int root, contribution mine, std::size_t at) {
        auto const r = static_cast<std::size_t>(root);
        auto const length = heard_[r].bytes.size();
        if (rank_ == root)
            std::copy(mine.bytes.begin() + static_cast<std::ptrdiff_t>(at), mine.bytes.end(), place_of(r) + at);
        for (; at < length; at += longest_)
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
        } while ((status.MPI_TAG & mpi_pieces::more_tag) != 0);
        return std::uint64_t{at - begin} << 1 | ((status.MPI_TAG & mpi_pieces::complaint_tag) != 0 ? 1 : 0);
    }

    std::size_t longest_;
    mpi_duplicate comm_;
    int rank_ = 0, size_ = 1;
    std::vector<std::uint64_t> envelopes_, expected_;  // expected_: bytes that travel along with an envelope
    std::vector<int> counts_, places_;
    std::vector<std::byte> bytes_, leaving_, arrived_;
    std::vector<contribution> heard_;
    under_way under_way_;
    MPI_Request started_ = MPI_REQUEST_NULL;
    contribution mine_;
};

}  // namespace laconic::detail
