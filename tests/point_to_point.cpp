// SPDX-License-Identifier: Apache-2.0
// Ranks that exchange in pairs allocate nothing once messages of every length have been sent.
#include "laconic/comm/fibers.hpp"
#include "laconic/comm/metered.hpp"
#include "laconic/comm/threads.hpp"
#include "support/allocations.hpp"
#include "support/test.hpp"

using namespace laconic;

namespace {

// Exchanges with partners at distances 1, 2 and 4, of lengths that come again every third round, and with oneself; then
// an all-gather. The last round in which some rank allocated.
template <class Engine>
int last_round_that_allocates() {
    std::vector<int> last(8, -1);
    Engine::run(8, [&](auto& engine) {
        metered comm(engine);
        std::vector<std::byte> const mine(300);
        for (int round = 0; round < 30; ++round) {
            auto const before = allocations();
            for (int d = 1; d < 8; d *= 2) {
                auto const length = static_cast<std::size_t>(round % 3 * 100 + d);
                comm.exchange(comm.rank() ^ d, {std::span(mine).first(length)}, comm.rank() ^ d);
                comm.exchange(comm.rank(), {mine}, comm.rank());
            }
            comm.all_gather({mine});
            if (allocations() != before) last[static_cast<std::size_t>(comm.rank())] = round;
        }
    });
    return *std::max_element(last.begin(), last.end());
}

}  // namespace

TEST_CASE("ranks that exchange in pairs allocate nothing once every length was there") {
    for (int const last : {last_round_that_allocates<threads>(), last_round_that_allocates<fibers>()}) {
        CHECK(last >= 0);
        CHECK(last < 6);
    }
}
