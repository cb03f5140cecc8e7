// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "laconic/comm/network.hpp"

namespace race {

/// Where the workers talk to each other.
struct network {
    enum class engine {
        threads,  ///< within this process
        delayed,  ///< there, with clocks as on `link`
        mpi       ///< as ranks of an MPI job
    } kind = engine::threads;
    laconic::network link{};

    bool is_delayed() const { return kind == engine::delayed; }
};

/// Reads threads, mpi, or delayed:LATENCY,BANDWIDTH[,OVERHEAD] such as delayed:20us,1Gbit/s. Throws
/// laconic::argument_error, which names these forms.
network parse_network(std::string const& text);

}  // namespace race
