// SPDX-License-Identifier: Apache-2.0
// A library that can only gather blocks of equal length, here over threads, carries the messages of a reducer.
#include <algorithm>
#include <barrier>
#include <cstddef>
#include <cstdio>
#include <laconic/comm/engine_of.hpp>
#include <laconic/reduce.hpp>
#include <span>
#include <thread>
#include <vector>

// Yours, such as MPI or gloo: mine.size() bytes, as many on all ranks, become those of all ranks, one after another.
struct my_library {
    int ranks;
    std::barrier<> all_here{ranks};
    std::vector<std::span<std::byte const>> blocks = std::vector<std::span<std::byte const>>(std::size_t(ranks));

    void all_gather(int rank, std::span<std::byte const> mine, std::span<std::byte> all) {
        blocks[std::size_t(rank)] = mine;
        all_here.arrive_and_wait();
        auto to = all.begin();
        for (auto const& block : blocks) to = std::copy(block.begin(), block.end(), to);
        all_here.arrive_and_wait();
    }
};

void train(my_library& library, int rank) {
    struct {
        std::span<std::byte const> mine;
        std::span<std::byte> all;
    } started[8];  // one for each lane
    laconic::engine_of comm(
        rank, library.ranks,
        [&](int lane, std::span<std::byte const> mine, std::span<std::byte> all) {
            started[lane] = {mine, all};
        },
        [&](int lane) { library.all_gather(rank, started[lane].mine, started[lane].all); });
    std::vector<float> gradient(1000, 1.0f + static_cast<float>(rank));
    laconic::reducer reduce(laconic::error_feedback{laconic::top_k{0.1}}, comm, gradient);
    reduce(gradient);
    if (rank == 0) std::printf("%g ... %g\n", gradient.front(), gradient.back());
}

int main() {
    my_library library{4};
    std::vector<std::jthread> ranks;
    for (int rank = 0; rank < 4; ++rank) ranks.emplace_back([&library, rank] { train(library, rank); });
}
