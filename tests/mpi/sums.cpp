// SPDX-License-Identifier: Apache-2.0
// sum(), mean() and reduce_scatter() over MPI, beside plain loops; part of the program of tests/comm/mpi.cpp.
#include "laconic/any/communicator.hpp"
#include "laconic/collective/dense/engine_all_reduce.hpp"
#include "laconic/comm/mpi.hpp"
#include "support/sum_calls.hpp"
#include "support/test.hpp"

namespace tests_of_mpi_sums {

using namespace laconic;

TEST_CASE("sums, means and parts of sums over MPI are those of plain loops") {
    mpi::member engine(MPI_COMM_WORLD);
    any_communicator comm(engine);
    for (std::size_t const d : {0, 2, 61}) {
        CHECK(sum_calls::wrong_with_types(comm, d) == "");
        CHECK(sum_calls::wrong_with(comm, d, engine_all_reduce{}) == "");
        CHECK(sum_calls::wrong_with_collectives(comm, d) == "");
    }
}

TEST_CASE("errors of sums over MPI are the same on all ranks, and the next call works") {
    mpi::member engine(MPI_COMM_WORLD);
    any_communicator comm(engine);
    CHECK(sum_calls::wrong_with_errors(comm) == "");
}

}  // namespace tests_of_mpi_sums
