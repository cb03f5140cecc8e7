// SPDX-License-Identifier: Apache-2.0
// A type that takes packets and the time is a `PacketMachine`, and one recovers lost packets.
// Waits before a packet is sent again follow the mean and deviation of round trips, doubled each time.
#include "laconic/comm/packet_machine.hpp"

#include "support/everything.hpp"

// Sends its number to another node, once a second, until that one's number has come.
struct greeter {
    std::byte mine, received{};
    int other;
    double next = never;

    template <class Out>
    void start(double now, Out out) {
        wake(now, out);
    }
    template <class Out>
    bool take(double, int from, std::span<std::byte const> packet, Out out) {
        bool const is_new = !done() && from == other && packet.size() == 1;
        if (is_new) {
            received = packet[0];
            out(other, std::span<std::byte const>(&mine, 1));
        }
        return is_new;
    }
    template <class Out>
    void wake(double now, Out out) {
        out(other, std::span(&mine, 1));
        next = now + 1;
    }
    double wakes_at() const { return done() ? never : next; }
    bool done() const { return received != std::byte{0}; }
    int waits_for() const { return done() ? no_rank : other; }
};

TEST_CASE("a protocol is a packet machine if it takes the time and packets, and gives the time to be woken at") {
    static_assert(PacketMachine<greeter>);
    static_assert(!PacketMachine<int>);
    // The first packet each way is lost; a node that is woken sends it again.
    std::array<greeter, 2> both{{{std::byte{1}, {}, 1}, {std::byte{2}, {}, 0}}};
    for (auto& g : both) g.start(0, [](int, auto) {});
    CHECK(both[0].waits_for() == 1);
    double now = 0;
    while (!both[0].done() || !both[1].done()) {
        now = std::min(both[0].wakes_at(), both[1].wakes_at());
        for (int me : {0, 1})
            if (both[std::size_t(me)].wakes_at() <= now)
                both[std::size_t(me)].wake(now, [&](int to, auto packet) {
                    both[std::size_t(to)].take(now, me, packet, [&](int back, auto answer) {
                        both[std::size_t(back)].take(now, to, answer, [](int, auto) {});
                    });
                });
    }
    CHECK(now == 1);
    CHECK(both[0].received == std::byte{2});
    CHECK(both[1].received == std::byte{1});
    CHECK(both[0].wakes_at() == never);
    CHECK(both[0].waits_for() == no_rank);
}

TEST_CASE("the wait is the mean and four deviations of the round trips, doubled each time") {
    detail::round_trip timer({0.5, 0.125, 16, 1});
    CHECK(timer.wait(0) == 0.5);
    CHECK(timer.wait(2) == 2);
    CHECK(timer.wait(10) == 16);
    CHECK(timer.wait(100000) == 16);
    timer.answered(1);  // mean 1, deviation 1/2
    CHECK(timer.wait(0) == 3);
    timer.answered(2);  // deviation 1/2 + (1 - 1/2) / 4 = 5/8, mean 9/8
    CHECK(timer.wait(0) == 1.125 + 4 * 0.625);
    CHECK(timer.wait(1) == 2 * (1.125 + 4 * 0.625));
    for (int n = 0; n < 200; ++n) timer.answered(0);
    CHECK(timer.wait(0) == 0.125);
    CHECK(timer.wait(3) == 1);
}

TEST_CASE("a sender that learns that a packet had arrived times the second copy") {
    detail::unanswered timer({1, 0.125, 64, 1});
    timer.reset(2, 1);
    timer.sent(0, 0, 0);
    timer.had(0, 0.25);  // whatever that was
    timer.each_late(1, [&](std::size_t i) { timer.sent(i, 0, 1); });
    CHECK(timer.times(0) == 2);
    timer.had(0, 1.5);  // mean 1/2, deviation 1/4
    timer.answered(0, 3);
    timer.sent(1, 0, 4);
    CHECK(timer.wakes_at() == 3);  // of the first, which waits no more
    timer.each_late(3, [](std::size_t) { CHECK(false); });
    CHECK(timer.wakes_at() == 5.5);
}

TEST_CASE("waits that cannot be kept") {
    retransmission{}.check();
    CHECK_THROWS_AS((retransmission{1, 0, 2, 1}.check()), argument_error);
    CHECK_THROWS_AS((retransmission{1, 2, 2, 1}.check()), argument_error);
    CHECK_THROWS_AS((retransmission{3, 2, 2, 1}.check()), argument_error);
    CHECK_THROWS_AS((retransmission{1, 1, std::numeric_limits<double>::infinity(), 1}.check()), argument_error);
    CHECK_THROWS_AS((retransmission{1, 1, 2, 0}.check()), argument_error);
}
