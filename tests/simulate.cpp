// SPDX-License-Identifier: Apache-2.0
// One include measures traffic by simulated clocks, records it and plays it on another network.
#include "laconic/simulate.hpp"

#include "support/everything.hpp"

TEST_CASE("a message of 100 bytes takes the latency and its bits") {
    double seconds = 0;
    threads::run(2, [&](auto& engine) {
        delayed comm(engine, network{1, 0x1p-7, 0});
        std::vector<std::byte> const bytes(100);
        comm.all_gather({bytes, false});
        if (comm.rank() == 0) seconds = comm.clock();
    });
    CHECK(seconds == 1 + 800 * 0x1p-7);
}
