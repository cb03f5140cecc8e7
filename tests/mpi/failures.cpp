// SPDX-License-Identifier: Apache-2.0
// The table of failures over MPI; part of the program of tests/comm/mpi.cpp. Of its ways those for 4 ranks
// run on 4, and those for 6 on 8.
#include "support/failures.hpp"

#include <chrono>

#include "laconic/comm/mpi.hpp"
#include "support/test.hpp"

namespace tests_of_mpi_failures {

using namespace laconic;

// The endings of all ranks, on each.
std::vector<failures::ending> gathered(mpi::member& comm, failures::ending const& mine) {
    std::vector<failures::ending> all(static_cast<std::size_t>(comm.size()), mine);
    auto const each = [&](std::span<std::byte const> bytes, auto use) {
        comm.all_gather({bytes});
        for (int r = 0; r < comm.size(); ++r) use(all[static_cast<std::size_t>(r)], comm.from(r).bytes);
    };
    auto const text = [](std::span<std::byte const> bytes) {
        return std::string(reinterpret_cast<char const*>(bytes.data()), bytes.size());
    };
    bool const flags[] = {mine.is_untouched, mine.is_same_state};
    each(std::as_bytes(std::span(mine.thrown)), [&](auto& e, auto bytes) { e.thrown = text(bytes); });
    each(std::as_bytes(std::span(mine.text)), [&](auto& e, auto bytes) { e.text = text(bytes); });
    each(std::as_bytes(std::span(flags)), [&](auto& e, auto bytes) {
        e.is_untouched = bytes[0] != std::byte{0}, e.is_same_state = bytes[1] != std::byte{0};
    });
    each(std::as_bytes(std::span(mine.next)), [&](auto& e, auto bytes) {
        e.next.resize(bytes.size() / sizeof(double));
        std::memcpy(e.next.data(), bytes.data(), bytes.size());
    });
    return all;
}

TEST_CASE("a failure is the same on all ranks, changes nothing, and the next step works: over MPI") {
    mpi::member world(MPI_COMM_WORLD, {.deadline = std::chrono::seconds(30)});
    for (auto const& w : failures::ways()) {
        if (w.ranks != (world.size() == 8 ? 6 : world.size())) continue;
        bool const takes_part = world.rank() < w.ranks;
        auto engine = world.split(takes_part ? 0 : 1, 0), results = engine.duplicate();
        for (auto const& row : failures::rows(w))
            if (takes_part)
                CHECK(failures::complaint(w, row, "MPI", [&](bool fails) {
                          return gathered(results, failures::on_rank(engine, w, row, fails));
                      }) == "");
    }
}

}  // namespace tests_of_mpi_failures
