// SPDX-License-Identifier: Apache-2.0
// Errors of NCCL and CUDA, and ranks that die, end all waits by the deadline and leave nothing behind.
#include "laconic/comm/nccl_stream.hpp"

#include <chrono>
#include <thread>

#include "support/nccl_ranks.hpp"
#include "support/stand_ins/nccl.hpp"
#include "support/test.hpp"

namespace tests_of_nccl_stream {

// What goes wrong, as the stand-in has it.

using namespace laconic;
using std::chrono::milliseconds;

namespace {

bool ends_soon(cudaStream_t stream) {
    for (int n = 0; n < 2000 && cudaStreamQuery(stream) == cudaErrorNotReady; ++n)
        std::this_thread::sleep_for(milliseconds(1));
    return cudaStreamQuery(stream) == cudaSuccess;
}

// The errors of ranks over communicators of their callers', who never come where comes(rank) is false. Checks that
// nothing is left afterwards.
template <class Comes, class Body>
std::vector<std::string> errors_with_deadline(int ranks, milliseconds deadline, Comes comes, Body body) {
    std::vector<std::string> errors(static_cast<std::size_t>(ranks), "none");
    auto const before = stand_in::communicators(), pieces = stand_in::pieces();
    nccl_ranks::each(ranks, [&](int rank, ncclUniqueId const& id, cudaStream_t stream) {
        ncclComm_t all = nullptr;
        REQUIRE(ncclCommInitRank(&all, ranks, id, rank) == ncclSuccess);
        bool aborted = false;
        if (comes(rank)) {
            nccl comm(all, stream, {deadline});
            try {
                body(comm);
            } catch (comm_error const& e) {
                errors[static_cast<std::size_t>(rank)] = e.what();
                CHECK(e.rank == -1);
                CHECK(cudaGetLastError() == cudaSuccess);  // that it was waited for is no error of the next kernel
                aborted = true;
                // Nothing of it is left in the stream, and nobody waits any more.
                CHECK(ends_soon(stream));
                auto const again = std::string("an error has aborted NCCL's communicator before: ") + e.what();
                for (int n = 0; n < 2; ++n) CHECK_THROWS_WITH_AS(comm.all_gather({}), again.c_str(), comm_error);
                CHECK_THROWS_AS(comm.wait(), comm_error);
                CHECK_THROWS_AS(comm.together([] {}), comm_error);
            }
        }
        if (!aborted) CHECK(ncclCommDestroy(all) == ncclSuccess);
    });
    stand_in::behave();
    CHECK(stand_in::communicators() == before);
    CHECK(stand_in::pieces() == pieces);
    return errors;
}
auto const all_come = [](int) { return true; };

// All that bytes need.
void exchange_bytes(nccl& comm) {
    std::vector<std::byte> const mine(static_cast<std::size_t>(comm.rank()) + 1);
    comm.all_gather({mine});
    comm.exchange((comm.rank() + 1) % comm.size(), {mine}, (comm.rank() + comm.size() - 1) % comm.size());
    comm.broadcast(0, {mine});
    comm.all_gather({std::span(mine).first(1)});
}

}  // namespace

TEST_CASE("whatever NCCL refuses is an error with its text, and the others wait no longer than the deadline") {
    for (std::string const call : {"ncclAllGather", "ncclSend", "ncclRecv", "ncclBroadcast"}) {
        CAPTURE(call);
        stand_in::refuse(call, 1, 0, ncclSystemError);
        auto const begin = std::chrono::steady_clock::now();
        auto const errors = errors_with_deadline(3, milliseconds(200), all_come, exchange_bytes);
        CHECK(std::chrono::steady_clock::now() - begin < milliseconds(5000));
        CHECK(errors[1] == call + ": unhandled system error");
        CHECK(errors[0] == "not all ranks came within 200 ms");
        CHECK(errors[2] == errors[0]);
    }
}

TEST_CASE("what CUDA refuses as well") {
    for (std::string const call : {"cudaMemcpyAsync", "cudaMalloc", "cudaMallocHost", "cudaStreamQuery"}) {
        CAPTURE(call);
        int named = 0;
        std::vector<std::string> errors;
        try {
            stand_in::refuse(call, 0, cudaErrorMemoryAllocation);
            errors = errors_with_deadline(2, milliseconds(200), all_come, exchange_bytes);
        } catch (comm_error const& e) {  // by the constructor
            errors = {e.what()};
            stand_in::behave();
        }
        for (auto const& text : errors) named += text == call + ": out of memory";
        CHECK(named == 1);
    }
}

TEST_CASE("what NCCL notices after a call has returned ends the wait") {
    auto const aborted = stand_in::aborted();
    auto const errors = errors_with_deadline(3, milliseconds(0), all_come, [](nccl& comm) {
        if (comm.rank() == 1) {  // is lost before it sends anything
            for (int const r : {0, 1, 2}) stand_in::later_error(r, ncclRemoteError);
            comm.wait();
        }
        comm.all_gather({});
    });
    for (auto const& text : errors)
        CHECK(text == "NCCL, after a call had returned: remote process exited or there was a network error");
    CHECK(stand_in::aborted() == aborted + 3);
}

TEST_CASE("a rank that dies: the others' waits end by the deadline, wherever they are") {
    auto const others = [](int rank) { return rank != 1; };
    auto const check_errors = [&](auto body) {
        auto const begin = std::chrono::steady_clock::now();
        auto const errors = errors_with_deadline(3, milliseconds(150), others, body);
        CHECK(std::chrono::steady_clock::now() - begin < milliseconds(5000));
        CHECK(errors ==
              std::vector<std::string>{"not all ranks came within 150 ms", "none", "not all ranks came within 150 ms"});
    };
    check_errors([](nccl& comm) { comm.all_gather({}); });
    check_errors([](nccl& comm) { comm.exchange(no_rank, {}, 0); });
    check_errors([](nccl& comm) {
        nccl_ranks::on_device<float> const x({1, 2}, comm.stream());
        comm.sum_in_stream(x.span());
    });
    check_errors([](nccl& comm) {
        nccl_ranks::on_device<float> const x({1, 2}, comm.stream());
        comm.together([&] { comm.spread(1, std::span<float const>(), x.span()); });
    });
}

TEST_CASE("of a group in which a call is refused nothing is carried out") {
    stand_in::refuse("ncclSend", 0, 1, ncclInvalidArgument);
    auto const errors = errors_with_deadline(2, milliseconds(200), all_come, [](nccl& comm) {
        nccl_ranks::on_device<float> const mine({1}, comm.stream()), theirs({0}, comm.stream());
        int const other = 1 - comm.rank();
        comm.together([&] {
            comm.send(other, std::span<float const>(mine.span()));
            comm.send(other, std::span<float const>(mine.span()));
            for (int n = 0; n < 2; ++n) comm.receive(other, theirs.span());
        });
        comm.wait();
    });
    CHECK(errors[0] == "ncclSend: invalid argument");
    CHECK(errors[1] == "not all ranks came within 200 ms");
}

TEST_CASE("a communicator that cannot be made") {
    stand_in::refuse("ncclCommInitRank", 0, 0, ncclSystemError);
    auto const before = stand_in::communicators();
    CHECK_THROWS_WITH_AS(nccl(nccl::id(), 0, 1, nullptr), "ncclCommInitRank: unhandled system error", comm_error);
    CHECK_THROWS_WITH_AS(nccl(nccl::id(), 3, 2, nullptr), "ncclCommInitRank: invalid argument", comm_error);
    CHECK(stand_in::communicators() == before);
}

TEST_CASE("what is made here is destroyed here, once") {
    auto const before = stand_in::communicators(), pieces = stand_in::pieces(), aborted = stand_in::aborted();
    nccl_ranks::run(3, exchange_bytes);
    CHECK(stand_in::communicators() == before);
    CHECK(stand_in::pieces() == pieces);
    CHECK(stand_in::aborted() == aborted);
}

}  // namespace tests_of_nccl_stream
