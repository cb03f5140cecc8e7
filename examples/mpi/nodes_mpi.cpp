// SPDX-License-Identifier: Apache-2.0
// The ranks that share memory are a node: in full inside a node, compressed between nodes.
#include <cstdio>
#include <laconic/comm/mpi.hpp>
#include <laconic/hierarchy.hpp>
#include <laconic/reduce.hpp>
#include <vector>

int main(int argc, char** argv) {
    laconic::mpi::run(argc, argv, [](auto& comm) {
        MPI_Comm shared = MPI_COMM_NULL;
        MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, comm.rank(), MPI_INFO_NULL, &shared);
        laconic::mpi::member inside(shared);  // sends over a duplicate
        MPI_Comm_free(&shared);
        auto across = comm.split(inside.rank(), comm.rank());  // one rank of each node
        std::vector<float> gradient(10000, static_cast<float>(comm.rank()));
        laconic::reducer reduce(laconic::error_feedback{laconic::top_k{0.01}}, laconic::hierarchy{inside, across},
                                gradient);
        reduce(gradient);
        auto const did = reduce.statistics();
        if (comm.rank() == 0)
            std::printf("%d node(s) of %d ranks: %d bytes in the node, a message of %d bytes for the others\n",
                        across.size(), inside.size(), static_cast<int>(did.bytes_inside),
                        static_cast<int>(did.bytes_sent));
    });
}
