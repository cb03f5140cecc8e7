// SPDX-License-Identifier: Apache-2.0
// Ranks that exchange in pairs, or gather in lanes, allocate nothing once messages of every length have been sent.
#include "laconic/comm/fibers.hpp"
#include "support/allocations.hpp"
#include "support/everything.hpp"
#include "support/over_tcp.hpp"

std::vector<std::byte> const bytes(400);
payload of(int length) { return {std::span(bytes).first(static_cast<std::size_t>(length))}; }

// With partners at distances 1, 2 and 4, of lengths that come again every third round, and with oneself; then with all.
void in_pairs(any_communicator& comm, int round) {
    for (int d = 1; d < 8; d *= 2) {
        comm.exchange(comm.rank() ^ d, of(round % 3 * 100 + d), comm.rank() ^ d);
        comm.exchange(comm.rank(), of(300), comm.rank());
    }
    comm.all_gather(of(300));
}
void started(any_communicator& comm, int round) {
    comm.start_all_gather(of(100 + round % 3 * 100));
    comm.finish();
}
void in_lanes(any_communicator& comm, int round) {
    for (int lane = 0; lane < detail::most_in_flight; ++lane) comm.start_all_gather(of(100 + round % 3 * 100), lane);
    for (int lane = 0; lane < detail::most_in_flight; ++lane) comm.finish(lane);
}

// The last of 30 rounds, from 1, in which some rank allocated.
template <class Engine>
std::size_t last_round_that_allocates(void (*step)(any_communicator&, int)) {
    std::vector<std::size_t> last(8);
    Engine::run(8, [&](auto& engine) {
        metered counted(engine);
        any_communicator comm(counted);
        last[static_cast<std::size_t>(comm.rank())] =
            last_to_allocate(30, [&, round = 0]() mutable { step(comm, round++); });
    });
    return *std::max_element(last.begin(), last.end());
}

TEST_CASE("ranks that exchange and gather allocate nothing once every length was there") {
    for (auto* const step : {in_pairs, started, in_lanes})
        for (auto const last : {last_round_that_allocates<threads>(step), last_round_that_allocates<fibers>(step)}) {
            CHECK(last >= 1);
            CHECK(last <= 6);
        }
}

// How far ranks are ahead of each other, and so how much memory messages need that wait, differs from round to round.
TEST_CASE("over TCP few rounds allocate, as each time the memory doubles") {
    for (auto* const step : {in_pairs, started, in_lanes}) {
        std::vector<int> rounds(8);
        auto const thrown = over_tcp(8, [&](tcp& engine) {
            any_communicator comm(engine);
            auto const held = bytes_held();
            for (int round = 0; round < 300; ++round) {
                auto const before = allocations();
                step(comm, round);
                rounds[static_cast<std::size_t>(comm.rank())] += allocations() != before;
            }
            REQUIRE(bytes_held() - held < 2000000);
        });
        CHECK(thrown == std::vector<std::string>(8));
        for (int const r : rounds) {
            CHECK(r >= 1);
            CHECK(r <= 15);
        }
    }
}
