// SPDX-License-Identifier: Apache-2.0
#include "job.hpp"
#include "laconic/core/error.hpp"

namespace race {

int join_job(int&, char**&, std::function<int(laconic::any_communicator)> const&) {
    throw laconic::argument_error(
        "--network mpi: this program was built without MPI; install one, such as Debian's libopenmpi-dev, and build "
        "again");
}

}  // namespace race
