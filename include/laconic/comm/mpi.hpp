// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mpi.h>

#include <algorithm>
#include <climits>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <exception>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "laconic/comm/communicator.hpp"
#include "laconic/core/contract.hpp"
#include "laconic/core/error.hpp"

namespace laconic {

/// The ranks as processes of an MPI job (MPI-3 or later; laconic::mpi is CMake's name for the library with MPI).
/// mpi::run(argc, argv, body) calls body(comm) on this rank. MPI has no way to tell the others that a rank gave up:
/// where a body throws, that rank prints who it is and why and ends the whole job with MPI_Abort. A process that dies
/// is noticed by the job's launcher; a rank that never comes keeps the others waiting. laconic.hpp leaves this out.
class mpi {
  public:
    struct settings {
        std::size_t longest = std::size_t{1} << 30;  ///< bytes that MPI carries at a time; on all ranks the same
    };

    /// One rank's end, over duplicates of the communicator that it is given: what else goes through that one does not
    /// mix with this. All ranks make it and let go of it together; MPI must be running. Its errors are comm_errors with
    /// MPI's own text. By itself it ends no job: whoever makes one without mpi::run decides what an exception means.
    class member {
      public:
        explicit member(MPI_Comm all) : member(all, settings{}) {}
        /// Throws argument_error for a `longest` of 0, or beyond an int.
        member(MPI_Comm all, settings how) : longest_(how.longest), meetings_(all), pairs_(all) {
            if (how.longest < 1 || how.longest > INT_MAX)
                throw argument_error(std::to_string(how.longest) + " bytes at a time: MPI carries 1 to 2^31 - 1");
            check(MPI_Comm_rank(all, &rank_), "MPI_Comm_rank");
            check(MPI_Comm_size(all, &size_), "MPI_Comm_size");
            auto const n = static_cast<std::size_t>(size_);
            envelopes_.resize(n);
            counts_.resize(n);
            places_.resize(n);
            heard_.resize(n);
        }
        member(member const&) = delete;
        member& operator=(member const&) = delete;
        /// Waits until what this rank handed over is taken, or at least in MPI's own memory.
        ~member() {
            for (auto& s : sent_)
                MPI_Waitall(static_cast<int>(s.requests.size()), s.requests.data(), MPI_STATUSES_IGNORE);
        }

        int rank() const { return rank_; }
        int size() const { return size_; }

        void all_gather(contribution mine) {
            std::uint64_t const envelope = seal(mine);
            check(MPI_Allgather(&envelope, 1, MPI_UINT64_T, envelopes_.data(), 1, MPI_UINT64_T, meetings_.all),
                  "MPI_Allgather");
            std::size_t const total = lay_out();
            if (total <= longest_) {
                for (std::size_t r = 0; r < counts_.size(); ++r) {
                    counts_[r] = static_cast<int>(envelopes_[r] >> 1);
                    places_[r] = static_cast<int>(heard_[r].bytes.data() - bytes_.data());
                }
                check(MPI_Allgatherv(mine.bytes.data(), static_cast<int>(mine.bytes.size()), MPI_BYTE, bytes_.data(),
                                     counts_.data(), places_.data(), MPI_BYTE, meetings_.all),
                      "MPI_Allgatherv");
            } else {
                for (int r = 0; r < size_; ++r) broadcast_bytes(r, mine);
            }
        }
        /// Only the root waits for the others, but a long message waits until the root takes it.
        void gather(int root, contribution mine) {
            check_root(root);
            if (rank_ != root) {
                for_each_piece(mine, [&](std::span<std::byte const> piece, int tag) {
                    check(MPI_Send(piece.data(), static_cast<int>(piece.size()), MPI_BYTE, root, tag, meetings_.all),
                          "MPI_Send");
                });
                std::fill(envelopes_.begin(), envelopes_.end(), 0);
                lay_out();
                return;
            }
            std::size_t total = 0;
            for (int r = 0; r < size_; ++r) {
                auto& envelope = envelopes_[static_cast<std::size_t>(r)];
                envelope = r == root ? seal(mine) : receive(meetings_.all, r, bytes_, total);
                make_room(bytes_, total += envelope >> 1);
            }
            lay_out();
            copy(mine, root);
        }
        void broadcast(int root, contribution mine) {
            check_root(root);
            std::fill(envelopes_.begin(), envelopes_.end(), 0);
            auto& envelope = envelopes_[static_cast<std::size_t>(root)];
            envelope = seal(mine);
            check(MPI_Bcast(&envelope, 1, MPI_UINT64_T, root, meetings_.all), "MPI_Bcast");
            lay_out();
            broadcast_bytes(root, mine);
        }
        contribution from(int r) const {
            LACONIC_EXPECTS(r >= 0 && r < size_);
            return heard_[static_cast<std::size_t>(r)];
        }

        contribution exchange(int to, contribution mine, int from) {
            detail::check_partners(size_, to, from);
            if (to != no_rank) {
                auto& s = room_to_send();
                s.bytes.assign(mine.bytes.begin(), mine.bytes.end());
                for_each_piece({s.bytes, mine.complaint}, [&](std::span<std::byte const> piece, int tag) {
                    check(MPI_Isend(piece.data(), static_cast<int>(piece.size()), MPI_BYTE, to, tag, pairs_.all,
                                    &s.requests.emplace_back(MPI_REQUEST_NULL)),
                          "MPI_Isend");
                });
            }
            if (from == no_rank) return {};
            auto const envelope = receive(pairs_.all, from, received_, 0);
            return {std::span(received_).first(envelope >> 1), (envelope & 1) != 0};
        }

      private:
        static void check(int status, char const* call) {
            if (status == MPI_SUCCESS) return;
            char text[MPI_MAX_ERROR_STRING] = {};
            int length = 0;
            MPI_Error_string(status, text, &length);
            throw comm_error(-1, std::string(call) + ": " + text);
        }
        void check_root(int root) const {
            if (root < 0 || root >= size_)
                throw argument_error("the root is rank " + std::to_string(root) + " of " + std::to_string(size_));
        }

        struct duplicate {
            MPI_Comm all = MPI_COMM_NULL;
            explicit duplicate(MPI_Comm of) {
                check(MPI_Comm_dup(of, &all), "MPI_Comm_dup");
                MPI_Comm_set_errhandler(all, MPI_ERRORS_RETURN);
            }
            duplicate(duplicate const&) = delete;
            ~duplicate() { MPI_Comm_free(&all); }
        };

        // An envelope is the length, and in its lowest bit whether it is a complaint. Between two ranks MPI tells the
        // length, and the tag the rest.
        static constexpr int complaint_tag = 1, more_tag = 2;
        static std::uint64_t seal(contribution c) { return std::uint64_t{c.bytes.size()} << 1 | (c.complaint ? 1 : 0); }

        static void make_room(std::vector<std::byte>& bytes, std::size_t n) {
            if (bytes.size() < n) bytes.resize(n);
        }
        // Where in bytes_ each rank's contribution lies, as the envelopes have it. Returns how many they are in all.
        std::size_t lay_out() {
            std::size_t total = 0;
            for (auto const e : envelopes_) total += e >> 1;
            make_room(bytes_, total);
            std::size_t at = 0;
            for (std::size_t r = 0; r < heard_.size(); ++r) {
                heard_[r] = {std::span(bytes_).subspan(at, envelopes_[r] >> 1), (envelopes_[r] & 1) != 0};
                at += envelopes_[r] >> 1;
            }
            return total;
        }
        std::byte* place_of(int r) {
            return bytes_.data() + (heard_[static_cast<std::size_t>(r)].bytes.data() - bytes_.data());
        }
        void copy(contribution mine, int r) {
            if (!mine.bytes.empty()) std::memcpy(place_of(r), mine.bytes.data(), mine.bytes.size());
        }
        void broadcast_bytes(int root, contribution mine) {
            if (rank_ == root) copy(mine, root);
            auto const length = heard_[static_cast<std::size_t>(root)].bytes.size();
            for (std::size_t at = 0; at < length; at += longest_)
                check(MPI_Bcast(place_of(root) + at, static_cast<int>(std::min(longest_, length - at)), MPI_BYTE, root,
                                meetings_.all),
                      "MPI_Bcast");
        }

        template <class Send>
        void for_each_piece(contribution c, Send send) {
            do {
                auto const piece = c.bytes.first(std::min(longest_, c.bytes.size()));
                c.bytes = c.bytes.subspan(piece.size());
                send(piece, (c.complaint ? complaint_tag : 0) | (c.bytes.empty() ? 0 : more_tag));
            } while (!c.bytes.empty());
        }
        // Writes what rank `from` sent into `bytes` from `at` on, which may grow, and returns its envelope.
        static std::uint64_t receive(MPI_Comm all, int from, std::vector<std::byte>& bytes, std::size_t at) {
            std::size_t const begin = at;
            MPI_Message message = MPI_MESSAGE_NULL;
            MPI_Status status{};
            int count = 0;
            do {
                check(MPI_Mprobe(from, MPI_ANY_TAG, all, &message, &status), "MPI_Mprobe");
                check(MPI_Get_count(&status, MPI_BYTE, &count), "MPI_Get_count");
                make_room(bytes, at + static_cast<std::size_t>(count));
                check(MPI_Mrecv(bytes.data() + at, count, MPI_BYTE, &message, &status), "MPI_Mrecv");
                at += static_cast<std::size_t>(count);
            } while ((status.MPI_TAG & more_tag) != 0);
            return std::uint64_t{at - begin} << 1 | ((status.MPI_TAG & complaint_tag) != 0 ? 1 : 0);
        }

        struct sending {
            std::vector<std::byte> bytes;
            std::vector<MPI_Request> requests;
        };
        // The oldest of a ring if it is over; else a new one in front of it.
        sending& room_to_send() {
            int over = 0;
            if (!sent_.empty()) {
                auto& s = sent_[oldest_];
                check(MPI_Testall(static_cast<int>(s.requests.size()), s.requests.data(), &over, MPI_STATUSES_IGNORE),
                      "MPI_Testall");
            }
            if (over == 0) sent_.emplace(sent_.begin() + static_cast<std::ptrdiff_t>(oldest_));
            auto& mine = sent_[oldest_];
            oldest_ = (oldest_ + 1) % sent_.size();
            mine.requests.clear();
            return mine;
        }

        std::size_t longest_;
        duplicate meetings_, pairs_;
        int rank_ = 0, size_ = 1;
        std::vector<std::uint64_t> envelopes_;
        std::vector<int> counts_, places_;
        std::vector<std::byte> bytes_, received_;
        std::vector<contribution> heard_;
        std::vector<sending> sent_;
        std::size_t oldest_ = 0;
    };

    /// Starts MPI unless it runs, and ends it then. Does not return where body(comm) throws.
    template <class Body>
    static void run(int& argc, char**& argv, Body body, settings how) {
        struct environment {
            int was_there = 0;
            environment(int& c, char**& v) {
                MPI_Initialized(&was_there);
                if (!was_there) MPI_Init(&c, &v);
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

static_assert(PointToPoint<mpi::member>);

}  // namespace laconic
