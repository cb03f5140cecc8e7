// SPDX-License-Identifier: Apache-2.0
// Ranks are processes that meet over TCP, without MPI. On each host: how_to_tcp RANK SIZE HOST:PORT, rank 0's address;
// without arguments: four processes on this one.
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <laconic/comm/tcp.hpp>
#include <laconic/reduce.hpp>
#include <string>
#include <vector>

void train(int rank, int size, std::string const& meet) {
    laconic::tcp comm(rank, size, meet);  // such as "10.0.0.1:29400", where rank 0 listens
    std::vector<float> gradient(1000, 1.0f + static_cast<float>(rank));
    laconic::reducer reduce(laconic::error_feedback{laconic::top_k{0.1}}, comm, gradient);
    reduce(gradient);
    if (rank == 0) std::printf("%g ... %g\n", gradient.front(), gradient.back());
}

int main(int argc, char** argv) {
    if (argc == 4) {
        train(std::atoi(argv[1]), std::atoi(argv[2]), argv[3]);
        return 0;
    }
    std::string const meet = laconic::tcp::listener("127.0.0.1:0").address();  // a port that is free
    int rank = 3;
    while (rank > 0 && fork() != 0) --rank;
    train(rank, 4, meet);
    while (rank == 0 && wait(nullptr) > 0) {
    }
}
