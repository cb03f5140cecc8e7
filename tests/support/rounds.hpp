// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "laconic/comm/threads.hpp"
#include "laconic/core/error.hpp"
#include "support/test.hpp"

/// What loops of every method promise of their rounds.
namespace rounds {

/// A run goes on bit for bit from each of its saved states, in the loop that has them and in one that began elsewhere;
/// damaged bytes, and the state of another run, are refused. start(comm, x) makes the loop of a rank that begins at x,
/// another(comm, x) that of another run.
template <class Start, class Another>
void go_on_from_states(int ranks, std::vector<double> const& begin, int n, Start start, Another another) {
    using namespace laconic;
    threads::run(ranks, [&](threads::member& comm) {
        auto x = begin, y = begin, z = std::vector<double>(begin.size(), 9), w = begin;
        auto run = start(comm, std::span<double>(x)), other = start(comm, std::span<double>(y)),
             late = start(comm, std::span<double>(z));
        for (int k = 0; k < n; ++k) {
            auto const state = run.save();
            other.restore(state);
            CHECK(x == y);
            CHECK(other.rounds() == std::uint64_t(k));
            run.round(), other.round();
            CHECK(x == y);
            CHECK(run.save() == other.save());
        }
        late.restore(run.save());
        run.round(), late.round();
        CHECK(z == x);
        auto damaged = run.save();
        damaged[damaged.size() / 2] ^= std::byte{1};
        auto const before = y;
        CHECK_THROWS_AS(other.restore(damaged), wire_error);
        CHECK(y == before);
        auto foreign = another(comm, std::span<double>(w));
        CHECK_THROWS_AS(foreign.restore(run.save()), shape_error);
    });
}

}  // namespace rounds
