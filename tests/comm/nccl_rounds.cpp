// SPDX-License-Identifier: Apache-2.0
// Rounds over NCCL allocate nothing after the first, wait only where they must, and serve late ranks.
#include "laconic/comm/nccl_rounds.hpp"

#include <atomic>
#include <chrono>
#include <thread>

#include "support/nccl_ranks.hpp"
#include "support/stand_ins/nccl.hpp"
#include "support/test.hpp"

using namespace laconic;

namespace tests_of_nccl_rounds {

TEST_CASE("no memory of the device's, nor page-locked memory, is asked for after the first round") {
    std::vector<std::size_t> after(3);
    nccl_ranks::run(4, [&](nccl& comm) {
        int const me = comm.rank(), n = comm.size();
        std::vector<std::byte> const mine(1000);
        for (std::size_t round = 0; round < 9; ++round) {
            auto const sent = std::span(mine).first(1000 - 100 * (round % 3));
            comm.all_gather({sent});
            comm.gather(1, {sent});
            comm.broadcast(2, {sent});
            comm.exchange((me + 1) % n, {sent}, (me + n - 1) % n);
            nccl_ranks::check(cudaStreamQuery(comm.stream()));
            comm.all_gather({});
            if (me == 0 && round % 4 == 0) after[round / 4] = stand_in::allocations();
            comm.all_gather({});
        }
    });
    CHECK(after[0] > 0);
    CHECK(after[1] == after[0]);
    CHECK(after[2] == after[0]);
}

TEST_CASE("arrays, and the sum of those who know that they agree, wait for nothing") {
    nccl_ranks::run(1, [&](nccl& comm) {
        nccl_ranks::on_device<double> const x({1, 2, 3}, comm.stream()), y({0, 0, 0}, comm.stream());
        auto const before = stand_in::waits();
        comm.sum_in_stream(x.span());
        comm.together([&] { comm.spread(0, std::span<double const>(x.span()), y.span()); });
        CHECK(stand_in::waits() == before);
        CHECK(y.numbers() == std::vector<double>{1, 2, 3});
        CHECK(stand_in::waits() > before);
    });
    // Nor is the sum waited for by those who do ask: rank 1 adds its share when rank 0 has gone on.
    std::atomic<bool> goes_on = false;
    nccl_ranks::run(2, [&](nccl& comm) {
        nccl_ranks::on_device<double> const x({1}, comm.stream());
        if (comm.rank() == 0) {
            comm.all_gather({});
            comm.sum_in_stream(x.span());
            goes_on = true;
            comm.wait();
        } else {
            comm.all_gather({});
            std::this_thread::sleep_for(std::chrono::milliseconds(100));
            CHECK(goes_on);
            comm.sum_in_stream(x.span());
        }
        CHECK(x.numbers() == std::vector<double>{2});
    });
}

TEST_CASE("a rank that computes meanwhile is waited for, and one that is done serves the others") {
    nccl_ranks::run(3, [&](nccl& comm) {
        std::vector<std::byte> const mine(8, std::byte(comm.rank()));
        if (comm.rank() == 0) {
            comm.exchange(1, {mine}, no_rank);  // and is done
        } else if (comm.rank() == 1) {
            CHECK(comm.exchange(2, {mine}, 0).bytes[0] == std::byte(0));
            CHECK(comm.exchange(2, {mine}, 2).bytes[0] == std::byte(2));
        } else {
            std::this_thread::sleep_for(std::chrono::milliseconds(20));
            CHECK(comm.exchange(1, {mine}, 1).bytes[0] == std::byte(1));
            CHECK(comm.exchange(no_rank, {}, 1).bytes[0] == std::byte(1));
        }
    });
}

}  // namespace tests_of_nccl_rounds
