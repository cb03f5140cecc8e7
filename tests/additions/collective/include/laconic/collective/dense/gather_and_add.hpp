// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "laconic/collective/collective.hpp"
#include "laconic/collective/session.hpp"
#include "laconic/core/description.hpp"

namespace laconic {

/// Every rank receives all vectors and adds them up.
struct gather_and_add {
    static constexpr void description(auto&& describe) {
        describe("gather_and_add", "dense: every rank receives all vectors", "");
    }
    /// Adds up on one rank. Reuses its memory.
    template <Scalar T, OnHost B = host>
    class adder;
    bool operator==(gather_and_add const&) const = default;
};

template <Scalar T, OnHost B>
class gather_and_add::adder {
  public:
    adder(gather_and_add const&, std::size_t d, position_code) : theirs_(d) {}

    template <Communicator C>
    void operator()(B& on, C& comm, std::span<T> x, sum_round round = {}) {
        session_.start(on, comm, round, x, theirs_.size());
        session_.share_failure(comm);
        session_.finish();
        comm.all_gather({std::as_bytes(std::span(x))});
        fill(on, x, T(0));
        for (int r = 0; r < comm.size(); ++r) {
            std::memcpy(theirs_.data(), comm.from(r).bytes.data(), theirs_.size() * sizeof(T));
            add_scaled(on, T(1), std::span<T const>(theirs_), x);
        }
        session_.check_sum(on, x, 0);
        session_.finish();
    }

  private:
    std::vector<T> theirs_;
    session session_;
};

}  // namespace laconic
