// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstddef>
#include <limits>
#include <span>

#include "laconic/comm/communicator.hpp"

namespace laconic {

/// When a packet_machine wants to be woken: not before a packet comes.
inline constexpr double never = std::numeric_limits<double>::infinity();

namespace detail {

struct any_packet_sink {
    void operator()(int, std::span<std::byte const>) const {}
};

}  // namespace detail

/// One node's part in a protocol of packets, without a socket and without a clock: it is told the time, is handed
/// packets, and hands packets to out(node, bytes), whose bytes are valid during that call. Packets may be lost, come
/// twice, late and in any order; what it takes may be anything that a network can bring. Nodes are counted from 0;
/// times are seconds from any origin and do not decrease. It never throws for what a packet says. Satisfied iff M has
///   start(now, out)               begins; before it nothing is handed out. Packets may come earlier: they are dropped;
///   take(now, from, packet, out)  a packet of that node's; true iff it brought this node nearer to its end: who gives
///   up
///                                 waiting counts the time from the last of these;
///   wake(now, out)                to be called at wakes_at(), when nothing came: what was not answered is sent again;
///   wakes_at()                    seconds, or never;
///   done()                        this node has what it wants, and no other needs it any more;
///   waits_for()                   a node whose packets it lacks, or no_rank: for the error of who gives up waiting.
template <class M>
concept PacketMachine = requires(M& m, M const& seen, double now, int from, std::span<std::byte const> packet,
                                 detail::any_packet_sink out) {
    m.start(now, out);
    { m.take(now, from, packet, out) } -> std::same_as<bool>;
    m.wake(now, out);
    { seen.wakes_at() } -> std::same_as<double>;
    { seen.done() } -> std::same_as<bool>;
    { seen.waits_for() } -> std::same_as<int>;
};

}  // namespace laconic
