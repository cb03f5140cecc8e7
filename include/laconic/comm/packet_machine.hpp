// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstddef>
#include <limits>
#include <span>

#include "laconic/comm/communicator.hpp"

namespace laconic {

/// The time at which a packet_machine must be woken that waits for a packet only.
inline constexpr double never = std::numeric_limits<double>::infinity();

namespace detail {

struct any_packet_sink {
    void operator()(int, std::span<std::byte const>) const {}
};

}  // namespace detail

/// One node's part in a protocol of packets, without a socket and without a clock: the caller gives it the time and the
/// packets, and it passes packets to out(node, bytes), whose bytes are valid during that call. Packets may be lost,
/// come twice, late and in any order, and may have any content that a network can bring. Nodes are counted from 0;
/// times are seconds from any origin and do not decrease. It never throws for the content of a packet. Satisfied iff M
/// has
///   start(now, out)               begins; before it nothing is sent. Packets may come earlier: they are dropped;
///   take(now, from, packet, out)  takes a packet of that node's; true iff it brought this node nearer to its end: the
///                                 caller's deadline counts from the last such packet;
///   wake(now, out)                to be called at wakes_at(), when nothing came: unanswered packets are sent again;
///   wakes_at()                    seconds, or never;
///   done()                        this node has its result, and no other needs it any more;
///   waits_for()                   a node whose packets it lacks, or no_rank: for the error of a caller that gives up.
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
