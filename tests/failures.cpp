// SPDX-License-Identifier: Apache-2.0
// The table of failures over threads and fibers; tests/mpi/failures.cpp has the same over MPI.
#include <chrono>

#include "laconic/comm/fibers.hpp"
#include "support/everything.hpp"
#include "support/failures.hpp"

// The endings of all ranks.
template <class Engine>
std::vector<failures::ending> endings(failures::way const& w, failures::cause_row const& row, bool fails) {
    std::vector<failures::ending> all(static_cast<std::size_t>(w.ranks));
    typename Engine::settings how;
    how.deadline = std::chrono::seconds(20);
    Engine::run(
        w.ranks,
        [&](auto& engine) { all[static_cast<std::size_t>(engine.rank())] = failures::on_rank(engine, w, row, fails); },
        how);
    return all;
}
template <class Engine>
void check_table(char const* engine) {
    for (auto const& w : failures::ways())
        for (auto const& row : failures::rows(w))
            CHECK(failures::complaint(w, row, engine, [&](bool fails) { return endings<Engine>(w, row, fails); }) ==
                  "");
}

TEST_CASE("a failure is the same on all ranks, changes nothing, and the next step works: over fibers") {
    check_table<fibers>("fibers");
}
TEST_CASE("a failure is the same on all ranks, changes nothing, and the next step works: over threads") {
    check_table<threads>("threads");
}
