// SPDX-License-Identifier: Apache-2.0
// An installed laconic builds over NCCL and gathers on one rank, or reports that there is no GPU.
#include <laconic/comm/nccl.hpp>

#include <iostream>

// One rank that gathers from itself, where there is a GPU; else the error.
int main() {
    try {
        laconic::nccl comm(laconic::nccl::id(), 0, 1, nullptr);
        comm.all_gather({});
        std::cout << "ranks: " << comm.size() << '\n';
    } catch (laconic::comm_error const& e) {
        std::cout << "refused: " << e.what() << '\n';
    }
}
