// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "laconic/comm/communicator.hpp"
#include "laconic/comm/metered.hpp"
#include "laconic/reduction/own_communicator.hpp"
#include "laconic/reduction/step_communicator.hpp"

namespace laconic::detail {

/// What the layers of a step compute and send with, on one rank: the backend and, once they are connected, the step's
/// own duplicate of the caller's communicator, with one count for messages and one for probes and comparisons.
template <Communicator C, class B>
struct step_resources {
    struct connection {
        own_communicator<C> own;
        counted_communicator<C> messages, watching;

        /// A collective call.
        explicit connection(C& of) : own(of), messages(own.comm()), watching(own.comm()) {}
    };

    B on{};
    std::unique_ptr<connection> over{};

    void connect(C& of) { over = std::make_unique<connection>(of); }
    metered<C>& comm() const { return over->messages.counted(); }
    metered<C>& watching() const { return over->watching.counted(); }
};

}  // namespace laconic::detail
