// SPDX-License-Identifier: Apache-2.0
// Sums sparse vectors over MPI: any number of terms on each rank, in any order.
#include <cstdint>
#include <cstdio>
#include <laconic/comm/mpi.hpp>
#include <laconic/sum.hpp>
#include <vector>

int main(int argc, char** argv) {
    laconic::mpi::run(argc, argv, [](auto& comm) {
        std::vector<std::int64_t> indices{7, 100 + comm.rank()};
        std::vector<double> values{0.5, 1.0};
        laconic::sparse_vector<double> const total =
            laconic::sum(comm, laconic::sparse_view(1000000, indices, values));
        for (std::size_t j = 0; comm.rank() == 0 && j < total.indices.size(); ++j)
            std::printf("total[%u] = %g\n", total.indices[j], total.values[j]);
    });
}
