// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mpi.h>

#include <chrono>
#include <cstddef>
#include <cstdio>
#include <exception>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "laconic/comm/mpi_end.hpp"

namespace laconic {

/// The ranks as processes of an MPI job (MPI-3 or later; laconic::mpi is CMake's name for the library with MPI).
/// mpi::run(argc, argv, body) calls body(comm) on this rank. Where a body throws, that rank prints its number and the
/// reason and ends the whole job with MPI_Abort. Where one returns before the others are done, these get a comm_error
/// that names it; the deadline is for a rank that never comes. Once a rank has got one of these comm_errors each later
/// call throws the same. Other threads of a rank may run meanwhile, but only one at a time may call, and where MPI was
/// started with less than MPI_THREAD_SERIALIZED only the one that started it. all.hpp leaves this out.
class mpi {
  public:
    /// The same on all ranks.
    struct settings {
        std::size_t longest = std::size_t{1} << 30;  ///< the most bytes of one call of MPI
        std::size_t piece = detail::longest_piece;   ///< the same of one message between two ranks, at most `longest`
        /// The longest wait for another rank within a call; 0: no limit. After it a comm_error names that rank, which
        /// may itself wait for another, unless the error states that it did not come. With a deadline broadcasts go
        /// from the root to each rank, not by MPI's, which cannot be abandoned.
        std::chrono::milliseconds deadline{0};
        /// After a deadline has passed, MPI_Finalize waits until the late rank ends, too. With this, where the body
        /// returns on a rank that got such an error, run() prints its reason and ends the job with MPI_Abort in its
        /// place. That ends all ranks, those too that are still in their bodies: save before what must be kept.
        bool abort_after_deadline = false;
    };

    /// One rank's communicator, over duplicates of the one that it is given, so that other traffic there does not mix
    /// with this. All ranks make it and destroy it together, before MPI_Finalize; one that is destroyed later calls MPI
    /// no more and leaks its memory. Its errors are comm_errors with MPI's own text; a program without mpi::run decides
    /// what they mean. In a communicator that split or duplicate made, ranks send to each other one by one, as with a
    /// deadline, and each rank may destroy its part at any time, without a wait: those that wait there for that rank
    /// get a comm_error that names it. A member that was moved from can only be destroyed or assigned to.
    ///
    /// A rank that destroys one sends a notice to the others. The last of a member and all that come from it, which
    /// should be the member itself, waits until the other ranks have destroyed the same ones; if a deadline has passed,
    /// what MPI may still use is leaked until the process ends.
    class member {
      public:
        explicit member(MPI_Comm all) : member(all, settings{}) {}
        /// Throws argument_error for a `longest` of 0 or beyond an int, a `piece` of 0, and a negative deadline, and
        /// where MPI does not run.
        member(MPI_Comm all, settings how) : member(running(all), how, {}, std::make_shared<detail::mpi_dropped>()) {}

        int rank() const { return end_->rank(); }
        int size() const { return end_->size(); }
        /// Whether another thread may communicate while the one that started MPI does not: MPI_THREAD_SERIALIZED, or
        /// more.
        bool may_change_threads() const {
            int given = 0;
            detail::check_mpi(MPI_Query_thread(&given), "MPI_Query_thread");
            return given >= MPI_THREAD_SERIALIZED;
        }

        void all_gather(payload mine) { end_->all_gather(mine); }
        /// MPI need only make progress while a rank calls it: what travels between start and finish depends on the MPI
        /// library, on whether it has a thread of its own, and on the network; of long messages at most those to the
        /// first two ranks.
        void start_all_gather(payload mine, int lane = 0) { end_->start_all_gather(mine, lane); }
        void finish(int lane = 0) { end_->finish(lane); }
        /// Only the root waits for the others, but a long message waits until the root receives it.
        void gather(int root, payload mine) { end_->gather(root, mine); }
        void broadcast(int root, payload mine) { end_->broadcast(root, mine); }
        payload from(int r) const { return end_->from(r); }

        /// x <- the sum of all ranks' x, by an algorithm that MPI chooses. Throws shape_error on all ranks where their
        /// lengths differ.
        template <Scalar T>
        void all_reduce(std::span<T> x) {
            end_->all_reduce(x);
        }

        payload exchange(int to, payload mine, int from) { return end_->exchange(to, mine, from); }

        /// As Splitting describes it.
        member split(int color, int key) {
            auto ranks = detail::subgroup(*this, color, key);  // they are all here: MPI's split need not wait
            for (int& r : ranks) r = end_->wait().name(r);
            end_.get_deleter().to->look();  // a time to free ends, as communicators are few
            detail::mpi_duplicate const part(end_->comm(), color, key);
            return member(part.all, how_, std::move(ranks), end_.get_deleter().to);
        }
        member duplicate() { return split(0, 0); }

      private:
        friend mpi;
        member(MPI_Comm all, settings how, std::vector<int> names, std::shared_ptr<detail::mpi_dropped> dropped)
            : how_(how),
              end_(new detail::mpi_end(all, how.longest, how.piece, how.deadline, std::move(names)),
                   detail::mpi_drop{std::move(dropped)}) {
            if (!how.abort_after_deadline)
                end_->wait().advice =
                    "; MPI_Finalize will wait for it: end the job with MPI_Abort, as mpi::run does with "
                    "mpi::settings::abort_after_deadline";
        }

        // The reason for which a deadline has passed, here or in a part that was destroyed; or "".
        std::string why_gave_up() const {
            auto const why = end_->why_gave_up();
            return why.empty() ? end_.get_deleter().to->why_gave_up() : why;
        }
        static MPI_Comm running(MPI_Comm all) {
            if (!detail::mpi_runs())
                throw argument_error(
                    "MPI does not run: MPI_Init_thread comes before a communicator over it, and MPI_Finalize after; "
                    "mpi::run calls both");
            return all;
        }

        settings how_;
        std::unique_ptr<detail::mpi_end, detail::mpi_drop> end_;
    };

    /// Starts MPI unless it runs, and then ends it. Does not return where body(comm) throws.
    static void run(int& argc, char**& argv, auto body, settings how) {
        struct environment {
            int was_there = 0;
            environment(int& c, char**& v) {
                MPI_Initialized(&was_there);
                int given = 0;  // less suffices for a rank that communicates from one thread
                if (!was_there) MPI_Init_thread(&c, &v, MPI_THREAD_SERIALIZED, &given);
            }
            ~environment() {
                if (was_there) return;
                MPI_Barrier(MPI_COMM_WORLD);  // mpiexec of Open MPI 4.1 may hang if one aborts while another finalizes
                MPI_Finalize();
            }
        } const running(argc, argv);
        std::optional<member> comm;  // outlives the exception: the job ends before a wait for the others
        try {
            comm.emplace(MPI_COMM_WORLD, how);
            body(*comm);
            if (auto const why = comm->why_gave_up(); how.abort_after_deadline && !why.empty()) end_all(why.c_str());
        } catch (std::exception const& e) {
            end_all(e.what());
        } catch (...) {
            end_all("an exception that is no std::exception");
        }
    }
    static void run(int& argc, char**& argv, auto body) { run(argc, argv, std::move(body), settings{}); }

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

}  // namespace laconic
