// SPDX-License-Identifier: Apache-2.0
// A type that takes packets and the time is a `PacketMachine`, and one recovers lost packets.
#include "laconic/comm/packet_machine.hpp"

#include "support/everything.hpp"

using namespace laconic;

namespace {

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

}  // namespace

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
