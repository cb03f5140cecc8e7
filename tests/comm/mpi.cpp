// SPDX-License-Identifier: Apache-2.0
#include "laconic/comm/mpi.hpp"

#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#include <cstdlib>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "comm/schedules.hpp"
#include "laconic/comm/metered.hpp"
#include "laconic/comm/threads.hpp"
#include "laconic/compress/natural.hpp"
#include "laconic/compress/rand_k.hpp"
#include "laconic/compress/top_k.hpp"
#include "laconic/method/diana.hpp"
#include "laconic/method/ef_sgd.hpp"
#include "laconic/run.hpp"

// A program of its own, which is run under mpirun with 1, 3, 4 and 8 ranks; each rank makes all checks. With --throw=R
// rank R throws instead while the others wait for it.

using namespace laconic;
using schedules::word;

namespace {

mpi::member* world = nullptr;

struct bowl {
    double c;
    std::size_t dimension() const { return 50; }
    double value(std::span<double const> x) const {
        double sum = 0;
        for (double const v : x) sum += (v - c) * (v - c);
        return sum;
    }
    void gradient(std::span<double const> x, std::span<double> g) const {
        for (std::size_t i = 0; i < x.size(); ++i) g[i] = x[i] * double(1 + i % 3) - c;
    }
    double smoothness() const { return 3; }
    double strong_convexity() const { return 1; }
};

// Where a rank ends, and what it sent and received.
template <class C, class M>
std::vector<double> end_of_a_run(C& comm, M const& method) {
    std::vector<double> x(50);
    metered counted(comm);
    descend(method, bowl{1.0 * comm.rank()}, x, counted, {.rounds = 60, .seed = 3});
    x.push_back(static_cast<double>(counted.bytes_sent()));
    x.push_back(static_cast<double>(counted.bytes_received()));
    return x;
}
template <class M>
void same_as_over_threads(M const& method) {
    auto const mine = end_of_a_run(*world, method);
    CHECK(mine[50] > 0);
    world->gather(0, {std::as_bytes(std::span(mine))});
    if (world->rank() != 0) return;
    std::vector<int> same(static_cast<std::size_t>(world->size()));
    threads::run(world->size(), [&](threads::member& comm) {
        auto const theirs = end_of_a_run(comm, method);
        auto const heard = world->from(comm.rank()).bytes;
        same[static_cast<std::size_t>(comm.rank())] =
            heard.size() == theirs.size() * 8 && std::memcmp(heard.data(), theirs.data(), heard.size()) == 0;
    });
    CHECK(same == std::vector<int>(same.size(), 1));
}

int meetings(mpi::member& comm) {
    int const n = comm.size(), me = comm.rank();
    int wrong = 0;
    for (int turn = 0; turn < 20; ++turn) {
        comm.all_gather(word(me, n, turn).said());
        for (int r = 0; r < n; ++r) wrong += word(r, n, turn).wrong(comm.from(r));
        int const root = turn % n;
        comm.gather(root, word(me, n + 1, turn).said());
        for (int r = 0; r < n; ++r)
            wrong += me == root ? word(r, n + 1, turn).wrong(comm.from(r)) : !comm.from(r).bytes.empty();
        comm.broadcast(root, word(me, n + 2, turn).said());
        wrong += word(root, n + 2, turn).wrong(comm.from(root));
    }
    return wrong;
}

}  // namespace

TEST_CASE("meetings hand over contributions of any lengths, and complaints") { CHECK(meetings(*world) == 0); }

TEST_CASE("ranks talk in pairs, by any schedule") {
    CHECK(schedules::all(*world) == 0);
    CHECK(schedules::refuses_ranks_that_do_not_exist(*world) == 0);
}

TEST_CASE("what MPI cannot carry at a time is cut, and comes as one") {
    for (std::size_t const longest : {1u, 7u, 40u}) {
        CAPTURE(longest);
        mpi::member comm(MPI_COMM_WORLD, {.longest = longest});
        CHECK(meetings(comm) == 0);
        CHECK(schedules::first_in_first_out(comm, 5) == 0);
        CHECK(schedules::ring_all_reduce(comm, 11) == 0);
    }
    for (std::size_t const bad : {std::size_t{0}, std::size_t{1} << 31})
        CHECK_THROWS_AS(mpi::member(MPI_COMM_WORLD, {.longest = bad}), argument_error);
}

TEST_CASE("messages of megabytes wait for their receiver, several at a time, while their sender goes on") {
    int const n = world->size(), me = world->rank(), next = (me + 1) % n, last = (me + n - 1) % n;
    for (int round = 0; round < 2; ++round) {
        for (int k = 0; k < 3; ++k) {
            std::vector<std::byte> const mine(std::size_t{1} << 20, std::byte(10 * me + k));
            world->exchange(next, {mine}, no_rank);
        }
        for (int k = 0; k < 3; ++k) {
            auto const heard = world->exchange(no_rank, {}, last).bytes;
            CHECK(heard.size() == std::size_t{1} << 20);
            CHECK(heard.front() == std::byte(10 * last + k));
            CHECK(heard.back() == std::byte(10 * last + k));
        }
    }
}

TEST_CASE("it keeps to itself: traffic of the user's on the same communicator does not mix with it") {
    int const n = world->size(), me = world->rank();
    mpi::member other(MPI_COMM_WORLD);
    int said = me, heard = -1;
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Isend(&said, 1, MPI_INT, (me + 1) % n, 0, MPI_COMM_WORLD, &request);
    other.exchange((me + 1) % n, word(me, 0, 1).said(), no_rank);
    CHECK(schedules::ring_sum(*world) == 0);
    CHECK_FALSE(word((me + n - 1) % n, 0, 1).wrong(other.exchange(no_rank, {}, (me + n - 1) % n)));
    MPI_Recv(&heard, 1, MPI_INT, (me + n - 1) % n, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK(heard == (me + n - 1) % n);
}

TEST_CASE("a root that does not exist is refused, and MPI's own errors are told in its words") {
    CHECK_THROWS_WITH_AS(world->gather(-1, {}), ("the root is rank -1 of " + std::to_string(world->size())).c_str(),
                         argument_error);
    CHECK_THROWS_AS(world->broadcast(world->size(), {}), argument_error);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    try {
        mpi::member const comm(MPI_COMM_NULL);
        FAIL("no exception");
    } catch (comm_error const& e) {
        CHECK(e.rank == -1);
        CHECK(std::string_view(e.what()).starts_with("MPI_Comm_dup: MPI_ERR_COMM"));
    }
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}

TEST_CASE("a run is the same as over threads, bit for bit and byte for byte") {
    same_as_over_threads(diana{rand_k{0.2} | natural{}});
    same_as_over_threads(ef_sgd{top_k{0.1}});
}

TEST_CASE("a run within a running MPI leaves it running") {
    int argc = 0;
    char** argv = nullptr;
    int called = 0;
    mpi::run(argc, argv, [&](mpi::member& comm) { called += comm.size(); });
    CHECK(called == world->size());
    CHECK(meetings(*world) == 0);
}

int main(int argc, char** argv) {
    int failed = 0;
    mpi::run(argc, argv, [&](mpi::member& comm) {
        for (int i = 1; i < argc; ++i)
            if (std::string_view const flag = argv[i]; flag.starts_with("--throw="))
                for (;;) {
                    comm.all_gather({});
                    if (comm.rank() == std::atoi(argv[i] + 8)) throw file_error("data", 3, 1, "broken line");
                }
        world = &comm;
        doctest::Context context(argc, argv);
        context.setOption("no-colors", true);
        context.setOption("minimal", comm.rank() != 0);  // these speak of failures only
        failed = context.run();
        // Where one failed, all did.
        comm.all_gather({std::as_bytes(std::span(&failed, failed != 0 ? 1u : 0u))});
        for (int r = 0; r < comm.size(); ++r)
            if (!comm.from(r).bytes.empty()) failed = 1;
    });
    return failed;
}
