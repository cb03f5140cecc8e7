// SPDX-License-Identifier: Apache-2.0
#include "laconic/comm/packet_machine.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>

using namespace laconic;

namespace {

// Says its number to another node until that one answers with its own, once a second.
struct greeter {
    std::byte mine, heard{};
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
            heard = packet[0];
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
    bool done() const { return heard != std::byte{0}; }
    int waits_for() const { return done() ? no_rank : other; }
};

}  // namespace

TEST_CASE("a protocol is a packet machine if it can be told the time, handed packets and asked when to be woken") {
    static_assert(PacketMachine<greeter>);
    static_assert(!PacketMachine<int>);
    // The first packet each way is lost; who is woken says it again.
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
    CHECK(both[0].heard == std::byte{2});
    CHECK(both[1].heard == std::byte{1});
    CHECK(both[0].wakes_at() == never);
    CHECK(both[0].waits_for() == no_rank);
}
