// SPDX-License-Identifier: Apache-2.0
// An installed laconic builds and runs an all-gather over MPI.
#include <laconic/comm/mpi.hpp>

int main(int argc, char** argv) {
    laconic::mpi::run(argc, argv, [](laconic::mpi::member& comm) { comm.all_gather({}); });
}
