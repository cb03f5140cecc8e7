// SPDX-License-Identifier: Apache-2.0
#include "job.hpp"
#include "laconic/comm/mpi.hpp"

namespace race {

int join_job(int& argc, char**& argv, std::function<int(laconic::any_communicator)> const& play) {
    int status = 0;
    laconic::mpi::run(argc, argv, [&](laconic::mpi::member& comm) { status = play(comm); });
    return status;
}

}  // namespace race
