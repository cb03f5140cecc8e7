// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

#include "laconic/any/communicator.hpp"

namespace race {

/// Calls play(this rank's end) in the MPI job that this process belongs to, which may be of one rank, and returns what
/// that returns. Where it throws, the rank says why and ends the whole job. Throws laconic::argument_error where the
/// program was built without MPI.
int join_job(int& argc, char**& argv, std::function<int(laconic::any_communicator)> const& play);

}  // namespace race
