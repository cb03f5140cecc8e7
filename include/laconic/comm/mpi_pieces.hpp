// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mpi.h>

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "laconic/comm/communicator.hpp"

namespace laconic::detail {

/// Throws comm_error with MPI's own text where a call failed.
inline void check_mpi(int status, char const* call) {
    if (status == MPI_SUCCESS) return;
    char text[MPI_MAX_ERROR_STRING] = {};
    int length = 0;
    MPI_Error_string(status, text, &length);
    throw comm_error(-1, {std::string(call), ": ", text});
}

/// Whether MPI has been started and not ended: only then may it be called.
inline bool mpi_runs() {
    int started = 0, ended = 0;
    MPI_Initialized(&started);
    MPI_Finalized(&ended);
    return started != 0 && ended == 0;
}

/// Starts to send bytes, which must stay as they are until they are received.
inline void start_to_send(std::span<std::byte const> bytes, int to, int tag, MPI_Comm all,
                          std::vector<MPI_Request>& requests) {
    check_mpi(MPI_Isend(bytes.data(), static_cast<int>(bytes.size()), MPI_BYTE, to, tag, all,
                        &requests.emplace_back(MPI_REQUEST_NULL)),
              "MPI_Isend");
}
/// Whether MPI has completed all of these.
inline bool are_over(std::vector<MPI_Request>& requests) {
    int over = 0;
    check_mpi(MPI_Testall(static_cast<int>(requests.size()), requests.data(), &over, MPI_STATUSES_IGNORE),
              "MPI_Testall");
    return over != 0;
}

/// A communicator that is freed here, and returns its errors: a duplicate of another, or its ranks that give the same
/// color, in the order of their keys.
struct mpi_duplicate {
    MPI_Comm all = MPI_COMM_NULL;
    explicit mpi_duplicate(MPI_Comm of) {
        check_mpi(MPI_Comm_dup(of, &all), "MPI_Comm_dup");
        MPI_Comm_set_errhandler(all, MPI_ERRORS_RETURN);
    }
    mpi_duplicate(MPI_Comm of, int color, int key) {
        check_mpi(MPI_Comm_split(of, color, key, &all), "MPI_Comm_split");
    }
    mpi_duplicate(mpi_duplicate const&) = delete;
    mpi_duplicate& operator=(mpi_duplicate const&) = delete;
    ~mpi_duplicate() {
        if (all != MPI_COMM_NULL) MPI_Comm_free(&all);
    }
    int rank() const {
        int mine = 0;
        check_mpi(MPI_Comm_rank(all, &mine), "MPI_Comm_rank");
        return mine;
    }
    int size() const {
        int ranks = 0;
        check_mpi(MPI_Comm_size(all, &ranks), "MPI_Comm_size");
        return ranks;
    }
};

/// A payload between two ranks: MPI states the length of a piece, and the tag the rest. It is cut into pieces that MPI
/// can carry, of at most `longest` bytes, all but the last as long as the first.
struct mpi_pieces {
    static constexpr int notice = 32767;  // the highest tag that MPI guarantees: this rank sends nothing more
    static constexpr int came = 32766;    // this rank has entered its next collective call, and will send a message
    static constexpr std::size_t largest_count = 16382;

    /// The number of pieces that follow, or largest_count for more.
    static constexpr int tag(std::size_t left, bool is_error) {
        return static_cast<int>(std::min(left, largest_count) << 1 | (is_error ? 1 : 0));
    }
    static constexpr std::size_t left(int tag) { return static_cast<std::size_t>(tag) >> 1; }
    static constexpr bool is_error(int tag) { return (tag & 1) != 0; }

    static void for_each(payload c, std::size_t longest, auto send) {
        do {
            auto const piece = c.bytes.first(std::min(longest, c.bytes.size()));
            c.bytes = c.bytes.subspan(piece.size());
            send(piece, tag(c.bytes.size() / longest + (c.bytes.size() % longest != 0), c.is_error));
        } while (!c.bytes.empty());
    }
};

}  // namespace laconic::detail
