// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "laconic/comm/communicator.hpp"
#include "laconic/core/kept.hpp"

namespace laconic::detail {

/// A reducer's own duplicate of a communicator, so that its messages do not mix with other traffic there; where the
/// communicator cannot be duplicated, that communicator itself.
template <Communicator C>
class own_communicator {
  public:
    explicit own_communicator(C& of) : comm_(of) {}
    /// A collective call.
    static std::unique_ptr<own_communicator> of(C& comm) { return std::make_unique<own_communicator>(comm); }
    C& comm() { return *comm_; }

  private:
    kept<C> comm_;
};
template <Splitting C>
class own_communicator<C> {
  public:
    explicit own_communicator(C& of) : comm_(of.duplicate()) {}
    static std::unique_ptr<own_communicator> of(C& comm) { return std::make_unique<own_communicator>(comm); }
    C& comm() { return comm_; }

  private:
    C comm_;
};

}  // namespace laconic::detail
