// SPDX-License-Identifier: Apache-2.0
#include "laconic/comm/metered.hpp"

#include <doctest/doctest.h>

#include <array>
#include <vector>

#include "laconic/comm/threads.hpp"

using namespace laconic;

TEST_CASE("it counts what this rank says and what the others say, to the byte") {
    std::array<std::uint64_t, 3> sent{}, received{};
    std::array<bool, 3> same{};
    threads::run(3, [&](threads::member& comm) {
        metered counted(comm);
        auto const me = static_cast<std::size_t>(counted.rank());
        std::vector<std::byte> const mine(5 * me, std::byte{7});  // 0, 5 and 10 bytes
        counted.all_gather({mine});
        counted.all_gather({mine, true});  // complaints count as what they are: bytes
        same[me] = counted.from(2).bytes.size() == 10 && counted.from(2).complaint && counted.from(0).bytes.empty();
        counted.inner().all_gather({mine});
        sent[me] = counted.bytes_sent();
        received[me] = counted.bytes_received();
    });
    CHECK(sent == std::array<std::uint64_t, 3>{0, 10, 20});
    CHECK(received == std::array<std::uint64_t, 3>{30, 20, 10});
    CHECK(same == std::array<bool, 3>{true, true, true});
}

TEST_CASE("a meeting that fails is not counted") {
    std::uint64_t sent = 99;
    CHECK_THROWS_AS(threads::run(2,
                                 [&](threads::member& comm) {
                                     metered counted(comm);
                                     if (counted.rank() == 1) throw argument_error("no");
                                     try {
                                         std::byte const word[4] = {};
                                         counted.all_gather({word});
                                     } catch (comm_error const&) {
                                         sent = counted.bytes_sent();
                                     }
                                 }),
                    argument_error);
    CHECK(sent == 0);
}
