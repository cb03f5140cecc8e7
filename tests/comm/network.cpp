// SPDX-License-Identifier: Apache-2.0
// A port serves its messages in the pauses between others, as one that is simulated second by second.
#include "laconic/comm/network.hpp"

#include "support/everything.hpp"

// A port that counts whole seconds: which of them it has given away.
struct by_the_second {
    std::vector<bool> taken = std::vector<bool>(2000);

    double serve(int there, int busy) {
        int at = there - busy;
        for (int left = busy; left > 0; ++at)
            if (!taken[std::size_t(at)]) {
                taken[std::size_t(at)] = true;
                --left;
            }
        return at;
    }
};

TEST_CASE("a message keeps a port busy for its overhead and its bits") {
    network const links{1, 0x1p-7, 0.25};
    CHECK(links.busy(0) == 0.25);
    CHECK(links.busy(48) == 0.25 + 3);
    double const nan = std::numeric_limits<double>::quiet_NaN(), inf = std::numeric_limits<double>::infinity();
    for (double const bad : {-1.0, nan, inf})
        for (auto const& wrong : {network{bad, 0, 0}, network{0, bad, 0}, network{0, 0, bad}})
            CHECK_THROWS_AS(wrong.check(), argument_error);
    links.check();
}

TEST_CASE("what comes while a port is busy waits for its next pauses") {
    detail::busy_times port;
    CHECK(port.end() == 0);
    CHECK(port.serve(10, 2) == 10);  // 8 .. 10
    CHECK(port.serve(5, 2) == 5);    // 3 .. 5
    CHECK(port.serve(5, 2) == 7);    // 5 .. 7
    CHECK(port.serve(5, 2) == 11);   // 7 .. 8, 10 .. 11
    CHECK(port.serve(3, 3) == 3);    // 0 .. 3
    CHECK(port.serve(1, 1) == 12);
    CHECK(port.append(1, 2) == 14);
    CHECK(port.append(20, 2) == 22);
    CHECK(port.serve(15, 7) == 23);  // 14 .. 20, 22 .. 23
    CHECK(port.end() == 23);
}

TEST_CASE("a port does as one that is simulated second by second") {
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
        key const from{seed};
        detail::busy_times port;
        by_the_second slow;
        for (std::uint64_t i = 0; i < 31; ++i) {  // as many as it remembers, whatever they are
            auto const busy = int(from.below(2 * i, 9)), there = busy + int(from.below(2 * i + 1, 150));
            if (busy == 0) continue;
            CHECK(port.serve(there, busy) == slow.serve(there, busy));
        }
    }
}

TEST_CASE("a port remembers what came last") {
    // Of 40 messages, with pauses of a second, the first 8 are forgotten, and what came then passes.
    detail::busy_times port;
    for (int i = 1; i <= 40; ++i) port.serve(2 * i, 1);
    CHECK(port.serve(6, 1) == 6);
    CHECK(port.serve(16, 1) == 16);
    CHECK(port.serve(18, 1) == 19);
    CHECK(port.serve(18, 2) == 21);
    CHECK(port.end() == 80);
}

TEST_CASE("one port for both ways sends before it serves what is awaited later") {
    network const links{1, 0, 2, true}, both{1, 0, 2, false};
    detail::port_clock radio, wire;
    CHECK(radio.send(links, 2) == 3);
    CHECK(wire.send(both, 2) == 3);
    radio.receive(3, 2);  // it would come from 1 to 3, and the port is free from 2 on
    wire.receive(3, 2);
    CHECK(radio.now == 4);
    CHECK(wire.now == 3);
    CHECK(radio.leave(links, 2) == 6);
}
