// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "laconic/comm/communicator.hpp"

/// What every communicator has, and passes on to `inner`. One of a test's own derives from it, and adds or hides what
/// it does otherwise.
template <class C>
struct passed_on {
    C* inner;

    int rank() const { return inner->rank(); }
    int size() const { return inner->size(); }
    void all_gather(laconic::payload mine) { inner->all_gather(mine); }
    void gather(int root, laconic::payload mine) { inner->gather(root, mine); }
    void broadcast(int root, laconic::payload mine) { inner->broadcast(root, mine); }
    laconic::payload from(int r) const { return inner->from(r); }
};
