// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mpi.h>

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdio>
#include <exception>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "laconic/comm/communicator.hpp"
#include "laconic/comm/mpi_inbox.hpp"
#include "laconic/comm/mpi_meetings.hpp"
#include "laconic/core/error.hpp"
#include "laconic/core/view.hpp"

namespace laconic {

/// The ranks as processes of an MPI job (MPI-3 or later; laconic::mpi is CMake's name for the library with MPI).
/// mpi::run(argc, argv, body) calls body(comm) on this rank. MPI has no way to tell the others that a rank gave up:
/// where a body throws, that rank prints who it is and why and ends the whole job with MPI_Abort. A process that dies
/// is noticed by the job's launcher; a rank that never comes keeps the others waiting. Other threads of a rank may run
/// meanwhile, but only one at a time may talk, and where MPI was started with less than MPI_THREAD_SERIALIZED only the
/// one that started it. laconic.hpp leaves this out.
class mpi {
  public:
    struct settings {
        std::size_t longest = std::size_t{1} << 30;  ///< bytes that MPI carries at a time; on all ranks the same
        std::size_t piece = longest_piece;           ///< the same between two ranks, at most `longest`
    };

    /// One rank's end, over duplicates of the communicator that it is given: what else goes through that one does not
    /// mix with this. All ranks make it and let go of it together; MPI must be running. Its errors are comm_errors with
    /// MPI's own text. By itself it ends no job: whoever makes one without mpi::run decides what an exception means.
    class member {
      public:
        explicit member(MPI_Comm all) : member(all, settings{}) {}
        /// Throws argument_error for a `longest` of 0, or beyond an int, and a `piece` of 0.
        member(MPI_Comm all, settings how)
            : longest_(how.longest),
              piece_(std::min(how.piece, how.longest)),
              meetings_(all, how.longest, how.piece),
              pairs_(all) {
            if (how.piece < 1) throw argument_error("pieces of 0 bytes");
        }
        member(member const&) = delete;
        member& operator=(member const&) = delete;
        /// Waits until what this rank handed over is taken, or at least in MPI's own memory.
        ~member() {
            for (auto& s : sent_)
                MPI_Waitall(static_cast<int>(s.requests.size()), s.requests.data(), MPI_STATUSES_IGNORE);
        }

        int rank() const { return meetings_.rank(); }
        int size() const { return meetings_.size(); }
        /// Whether another thread may talk while that which started MPI does not: MPI_THREAD_SERIALIZED, or more.
        bool may_change_threads() const {
            int given = 0;
            check(MPI_Query_thread(&given), "MPI_Query_thread");
            return given >= MPI_THREAD_SERIALIZED;
        }

        void all_gather(contribution mine) { meetings_.all_gather(mine); }
        /// MPI need not carry anything but while a rank calls it: what travels between these two depends on the
        /// library, on whether it has a thread of its own, and on the network; of long messages what goes to the first
        /// two ranks, at most.
        void start_all_gather(contribution mine) { meetings_.start_all_gather(mine); }
        void finish() { meetings_.finish(); }
        /// Only the root waits for the others, but a long message waits until the root takes it.
        void gather(int root, contribution mine) { meetings_.gather(root, mine); }
        void broadcast(int root, contribution mine) { meetings_.broadcast(root, mine); }
        contribution from(int r) const { return meetings_.from(r); }

        /// x <- the sum of all ranks' x, as many numbers on each, by whatever algorithm MPI takes for it.
        template <Scalar T>
        void all_reduce(std::span<T> x) {
            meetings_.check_none_under_way();
            MPI_Datatype const type = std::same_as<T, float> ? MPI_FLOAT : MPI_DOUBLE;
            for (std::size_t const most = std::max<std::size_t>(longest_ / sizeof(T), 1); !x.empty();) {
                auto const piece = x.first(std::min(most, x.size()));
                check(MPI_Allreduce(MPI_IN_PLACE, piece.data(), static_cast<int>(piece.size()), type, MPI_SUM,
                                    meetings_.comm()),
                      "MPI_Allreduce");
                x = x.subspan(piece.size());
            }
        }

        contribution exchange(int to, contribution mine, int from) {
            detail::check_partners(size(), to, from);
            meetings_.check_none_under_way();
            if (to != no_rank) {
                auto& s = room_to_send(mine.bytes.size());
                s.bytes.assign(mine.bytes.begin(), mine.bytes.end());
                detail::mpi_pieces::for_each(
                    {s.bytes, mine.complaint}, piece_, [&](std::span<std::byte const> piece, int tag) {
                        check(MPI_Isend(piece.data(), static_cast<int>(piece.size()), MPI_BYTE, to, tag, pairs_.all,
                                        &s.requests.emplace_back(MPI_REQUEST_NULL)),
                              "MPI_Isend");
                    });
            }
            if (from == no_rank) return {};
            return inbox_.take(from, received_);
        }

      private:
        static void check(int status, char const* call) { detail::check_mpi(status, call); }

        struct sending {
            std::vector<std::byte> bytes;
            std::vector<MPI_Request> requests;
        };
        // One that is over, whichever: behind one that waits for a late receiver the others must not pile up. They may
        // be hundreds: four are looked at, in turn.
        sending& room_to_send(std::size_t bytes) {
            for (int looks = 4; looks > 0 && !waiting_.empty(); --looks) {
                turn_ = (turn_ + 1) % waiting_.size();
                auto& s = sent_[waiting_[turn_]];
                int over = 0;
                check(MPI_Testall(static_cast<int>(s.requests.size()), s.requests.data(), &over, MPI_STATUSES_IGNORE),
                      "MPI_Testall");
                if (over == 0) continue;
                s.requests.clear();
                free_.push_back(std::exchange(waiting_[turn_], waiting_.back()));
                waiting_.pop_back();
            }
            if (free_.empty()) {
                free_.push_back(sent_.size());
                sent_.emplace_back();
            }
            waiting_.push_back(
                detail::take_room(free_, bytes, [&](std::size_t f) { return sent_[f].bytes.capacity(); }));
            return sent_[waiting_.back()];
        }

        std::size_t longest_, piece_;
        detail::mpi_meetings meetings_;
        detail::mpi_duplicate pairs_;
        detail::mpi_inbox inbox_{pairs_.all};
        std::vector<std::byte> received_;
        std::vector<sending> sent_;
        std::vector<std::size_t> waiting_, free_;  // which of them
        std::size_t turn_ = 0;
    };

    /// Starts MPI unless it runs, and ends it then. Does not return where body(comm) throws.
    template <class Body>
    static void run(int& argc, char**& argv, Body body, settings how) {
        struct environment {
            int was_there = 0;
            environment(int& c, char**& v) {
                MPI_Initialized(&was_there);
                int given = 0;  // less does for a rank that talks from one thread
                if (!was_there) MPI_Init_thread(&c, &v, MPI_THREAD_SERIALIZED, &given);
            }
            ~environment() {
                if (!was_there) MPI_Finalize();
            }
        } const running(argc, argv);
        std::optional<member> comm;  // it outlives the exception, as the others may not let go of it now
        try {
            comm.emplace(MPI_COMM_WORLD, how);
            body(*comm);
        } catch (std::exception const& e) {
            end_all(e.what());
        } catch (...) {
            end_all("an exception that is no std::exception");
        }
    }
    template <class Body>
    static void run(int& argc, char**& argv, Body body) {
        run(argc, argv, std::move(body), settings{});
    }

  private:
    static void end_all(char const* why) {
        int rank = 0, size = 1;
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
        MPI_Comm_size(MPI_COMM_WORLD, &size);
        std::fprintf(stderr, "rank %d of %d failed: %s\n", rank, size, why);
        std::fflush(nullptr);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
};

static_assert(PointToPoint<mpi::member> && Overlapping<mpi::member> && AllReducer<mpi::member, float> &&
              AllReducer<mpi::member, double>);

}  // namespace laconic
