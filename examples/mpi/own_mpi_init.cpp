// SPDX-License-Identifier: Apache-2.0
// A program that starts and ends MPI itself.
#include <mpi.h>

#include <cstdio>
#include <exception>
#include <laconic/comm/mpi.hpp>
#include <laconic/laconic.hpp>
#include <vector>

int main(int argc, char** argv) {
    int given = 0;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &given);
    try {
        laconic::mpi::member comm(MPI_COMM_WORLD);  // or another communicator of the program's
        std::vector<float> gradient(1000, static_cast<float>(comm.rank()));
        laconic::reducer reduce(laconic::error_feedback{laconic::top_k{0.01}}, comm, gradient);
        reduce(gradient);
        if (comm.rank() == 0) std::printf("%d ranks: %g\n", comm.size(), gradient[0]);
    } catch (std::exception const& e) {
        std::fprintf(stderr, "%s\n", e.what());
        MPI_Abort(MPI_COMM_WORLD, 1);  // MPI_Finalize would wait for the other ranks
    }
    MPI_Finalize();
}
