// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mpi.h>

#include <algorithm>
#include <chrono>
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
#include "laconic/comm/subgroup.hpp"
#include "laconic/core/error.hpp"
#include "laconic/core/view.hpp"

namespace laconic {

/// The ranks as processes of an MPI job (MPI-3 or later; laconic::mpi is CMake's name for the library with MPI).
/// mpi::run(argc, argv, body) calls body(comm) on this rank. Where a body throws, that rank prints who it is and why
/// and ends the whole job with MPI_Abort. Where one returns before the others are done, these get a comm_error that
/// names it. The job's launcher notices a process that dies. For a rank that never comes there is the deadline. Once a
/// rank has got a comm_error of these two kinds each later call throws the same. Other threads of a rank may run
/// meanwhile, but only one at a time may call, and where MPI was started with less than MPI_THREAD_SERIALIZED only the
/// one that started it. laconic.hpp leaves this out.
class mpi {
  public:
    /// The same on all ranks.
    struct settings {
        std::size_t longest = std::size_t{1} << 30;  ///< bytes that MPI carries at a time
        std::size_t piece = longest_piece;           ///< the same between two ranks, at most `longest`
        /// The longest wait for another rank within a call; 0: no limit. Then a comm_error names that rank, which may
        /// wait for another itself, unless it is a meeting that it did not come to. With a deadline contributions go
        /// from each rank to each, not by MPI's collectives, which cannot be given up.
        std::chrono::milliseconds deadline{0};
    };

    /// One rank's end, over duplicates of the communicator that it is given: what else goes through that one does not
    /// mix with this. All ranks make it and let go of it together; MPI must be running. Its errors are comm_errors with
    /// MPI's own text. By itself it ends no job: whoever makes one without mpi::run decides what an exception means.
    /// Where an exception passes one that split or duplicate made, its rank leaves at once, and the others get a
    /// comm_error that names it; where a rank lets go of one otherwise, it waits until the others do. In such a one
    /// ranks send to each other one by one, as with a deadline.
    class member {
      public:
        explicit member(MPI_Comm all) : member(all, settings{}) {}
        /// Throws argument_error for a `longest` of 0, or beyond an int, a `piece` of 0, and a negative deadline.
        member(MPI_Comm all, settings how) : member(all, how, {}) {}
        member(member const&) = delete;
        member& operator=(member const&) = delete;
        /// Tells the others that this rank hands over nothing more, and waits until all of them have left: but not
        /// where a deadline has passed or an exception a part, then what MPI may still use is left to the end of the
        /// process.
        ~member() {
            if (is_part_ && std::uncaught_exceptions() > exceptions_) meetings_.wait().gave_up = true;
            try {
                inbox_.leave();
                meetings_.leave();
                if (!meetings_.wait().gave_up) inbox_.drain();
                if (!meetings_.wait().gave_up) {
                    for (auto& s : sent_)
                        MPI_Waitall(static_cast<int>(s.requests.size()), s.requests.data(), MPI_STATUSES_IGNORE);
                    return;
                }
            } catch (comm_error const&) {  // MPI itself has failed
            }
            pairs_.all = MPI_COMM_NULL;
            detail::mpi_wait::leak(sent_);
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
        void start_all_gather(contribution mine, int lane = 0) { meetings_.start_all_gather(mine, lane); }
        void finish(int lane = 0) { meetings_.finish(lane); }
        /// Only the root waits for the others, but a long message waits until the root takes it.
        void gather(int root, contribution mine) { meetings_.gather(root, mine); }
        void broadcast(int root, contribution mine) { meetings_.broadcast(root, mine); }
        contribution from(int r) const { return meetings_.from(r); }

        /// x <- the sum of all ranks' x by whatever algorithm MPI takes for it. Throws shape_error on all ranks where
        /// they do not bring as many numbers.
        template <Scalar T>
        void all_reduce(std::span<T> x) {
            meetings_.all_reduce(x);
        }

        contribution exchange(int to, contribution mine, int from) {
            detail::check_partners(size(), to, from);
            meetings_.check_goes_on();
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

        /// As Splitting has it. The result does not move: `auto part = comm.split(color, key);`
        member split(int color, int key) {
            auto ranks = detail::subgroup(*this, color, key);  // they are all here: MPI's split need not wait
            for (int& r : ranks) r = meetings_.wait().name(r);
            detail::mpi_part const part(meetings_.comm(), color, key);
            return member(part.all, how_, std::move(ranks));
        }
        member duplicate() { return split(0, 0); }

      private:
        member(MPI_Comm all, settings how, std::vector<int> names)
            : how_(how),
              piece_(std::min(how.piece, how.longest)),
              is_part_(!names.empty()),
              meetings_(all, how.longest, how.piece, how.deadline, std::move(names)),
              pairs_(all) {
            if (how.piece < 1) throw argument_error("pieces of 0 bytes");
        }

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

        settings how_;
        std::size_t piece_;
        bool is_part_;
        int exceptions_ = std::uncaught_exceptions();
        detail::mpi_meetings meetings_;
        detail::mpi_duplicate pairs_;
        detail::mpi_inbox inbox_{pairs_.all, meetings_.wait()};
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
        std::optional<member> comm;  // it outlives the exception: the job ends before it waits for the others
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

static_assert(PointToPoint<mpi::member> && Overlapping<mpi::member> && Splitting<mpi::member> &&
              AllReducer<mpi::member, float> && AllReducer<mpi::member, double>);

}  // namespace laconic
