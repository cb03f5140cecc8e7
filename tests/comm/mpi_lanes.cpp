// SPDX-License-Identifier: Apache-2.0
// Messages in several lanes arrive in their lanes over MPI, and no lane waits for another.
#include "laconic/comm/mpi_lanes.hpp"

#include <mpi.h>

#include <chrono>
#include <thread>

#include "support/schedules.hpp"
#include "support/test.hpp"

// Part of the program of mpi.cpp, which is run with 1, 3, 4 and 8 ranks.

using namespace laconic;
using namespace std::chrono_literals;
using schedules::test_message;

namespace {

struct ranks {
    detail::mpi_wait wait;
    int rank = 0, size = 1;
    detail::mpi_lanes lanes;

    explicit ranks(std::size_t piece, std::chrono::milliseconds longest = {})
        : wait{detail::deadline(longest), {}}, lanes(MPI_COMM_WORLD, piece, wait) {
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
        MPI_Comm_size(MPI_COMM_WORLD, &size);
    }
    ~ranks() {
        lanes.leave();
        while (!lanes.is_over()) {
        }
    }
};

}  // namespace

TEST_CASE("long and short messages in flight together arrive in their lanes, with a deadline and without") {
    for (auto const deadline : {0ms, 60000ms})
        for (std::size_t const piece : {std::size_t{1} << 20, std::size_t{1000}}) {
            ranks all(piece, deadline);
            auto const sent = [&](int rank, int round, int lane) {
                test_message one(rank, lane, round);
                // So long that they do not go to all others at once, followed by others that would.
                if (lane % 2 == 0) one.bytes.resize(static_cast<std::size_t>(300000 + rank), std::byte(round + lane));
                return one;
            };
            for (int round = 0; round < 3; ++round) {
                for (int lane = 0; lane < detail::most_in_flight; ++lane)
                    all.lanes.start(sent(all.rank, round, lane).as_payload(), lane);
                CHECK(all.lanes.started().count() == detail::most_in_flight);
                if (all.rank == round) std::this_thread::sleep_for(20ms);
                for (int lane = 0; lane < detail::most_in_flight; ++lane) {
                    auto const& received = all.lanes.finish(lane);
                    for (int r = 0; r < all.size; ++r)
                        CHECK_FALSE(sent(r, round, lane).wrong(received[std::size_t(r)]));
                }
                CHECK_FALSE(all.lanes.started());
                CHECK(all.lanes.gather(0, sent(all.rank, round, 1).as_payload()).size() == std::size_t(all.size));
                auto const& of_root = all.lanes.broadcast(all.size - 1, sent(all.rank, round, 2).as_payload());
                CHECK_FALSE(sent(all.size - 1, round, 2).wrong(of_root.back()));
            }
        }
}

TEST_CASE("a finish does not wait until others take what was started in the next lane") {
    ranks all(std::size_t{1} << 30);
    if (all.size < 3) return;
    std::vector<std::byte> const large(std::size_t{1} << 22);
    all.lanes.start({}, 0);
    all.lanes.start({large}, 1);
    all.lanes.finish(0);
    // Rank 1 calls MPI for this only when the others have reported that they are through with the first lane.
    if (all.rank == 1)
        for (int n = 1; n < all.size; ++n)
            MPI_Recv(nullptr, 0, MPI_BYTE, MPI_ANY_SOURCE, 11, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    else
        MPI_Send(nullptr, 0, MPI_BYTE, 1, 11, MPI_COMM_WORLD);
    CHECK(all.lanes.finish(1).back().bytes.size() == large.size());
}

TEST_CASE("a rank that has done its part may leave while a message between two others is on its way") {
    ranks all(std::size_t{1} << 30);
    if (all.size < 3) return;
    std::vector<std::byte> const large(std::size_t{1} << 22);
    if (all.rank == 0) {
        MPI_Recv(nullptr, 0, MPI_BYTE, 2, 12, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        std::this_thread::sleep_for(20ms);
    }
    // Rank 1 waits here for the root while rank 2 leaves.
    all.lanes.gather(0, {all.rank == 1 ? std::span(large) : std::span(large).first(9)});
    CHECK(all.lanes.broadcast(2, {std::span(large).first(9)})[2].bytes.size() == 9);
    if (all.rank == 2) {
        all.lanes.leave();
        MPI_Send(nullptr, 0, MPI_BYTE, 0, 12, MPI_COMM_WORLD);
    }
}

TEST_CASE("lanes in flight when all ranks leave hold up none of them") {
    std::vector<std::byte> const mine(100000, std::byte(3));
    ranks all(1000);
    for (int const lane : {4, 1, 6}) all.lanes.start({mine}, lane);
    all.lanes.finish(4);
    CHECK(all.lanes.started().count() == 2);
}
