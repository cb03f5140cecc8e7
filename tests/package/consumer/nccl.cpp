// SPDX-License-Identifier: Apache-2.0
#include <laconic/comm/nccl.hpp>

#include <iostream>

// One rank that talks to itself, where there is a GPU; else what it is told.
int main() {
    try {
        laconic::nccl comm(laconic::nccl::id(), 0, 1, nullptr);
        comm.all_gather({});
        std::cout << "ranks: " << comm.size() << '\n';
    } catch (laconic::comm_error const& e) {
        std::cout << "refused: " << e.what() << '\n';
    }
}
