// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "laconic/comm/communicator.hpp"
#include "laconic/core/error.hpp"
#include "laconic/core/term.hpp"
#include "laconic/core/text.hpp"
#include "laconic/packet/omni_blocks.hpp"
#include "laconic/packet/omni_packet.hpp"

namespace laconic {

/// How the blocks of a vector of d numbers stream through aggregators, the same on all nodes. Nodes 0 .. workers - 1
/// have a vector each; the aggregators are nodes of their own after these, or the first of these. Blocks are dealt to
/// columns, in each of which they come one after another; `fused` columns make a slot, whose blocks share a packet and
/// take turns together; slots are dealt to the aggregators.
struct omni_stream {
    std::size_t d;
    int workers;
    int aggregators = 1;
    bool co_located = false;
    std::size_t block = 256;      ///< the numbers in a block
    std::size_t fused = 1;        ///< the blocks in a packet, 1 to 24
    std::size_t slot_count = 16;  ///< the most packets in flight from each worker to each aggregator

    /// Throws argument_error for settings outside their ranges.
    void check() const {
        blocks().check();
        auto const refuse = [](std::string const& why) { throw argument_error(why); };
        if (d > detail::largest_dimension) refuse("more than 2^32 - 1 dimensions");
        if (workers < 1 || workers > 65536) refuse(detail::concat({workers, " workers"}));
        if (aggregators < 1 || aggregators > (co_located ? workers : 65536))
            refuse(detail::concat({aggregators, " aggregators for ", workers, " workers"}));
        if (fused < 1 || fused > 24) refuse(detail::concat({fused, " blocks in a packet: 1 to 24 can be"}));
        if (slot_count < 1 || slot_count > 65536) refuse(detail::concat({slot_count, " slots"}));
    }

    detail::omni_blocks blocks() const { return {d, block}; }
    int nodes() const { return workers + (co_located ? 0 : aggregators); }
    int node_of(std::size_t aggregator) const { return static_cast<int>(aggregator) + (co_located ? 0 : workers); }
    /// The aggregator that a node is, or no_rank.
    int aggregator_at(int node) const {
        int const a = co_located ? node : node - workers;
        return a >= 0 && a < aggregators ? a : no_rank;
    }

    /// The slots of each aggregator: not more than the blocks need.
    std::size_t slots_each() const {
        std::size_t const row = static_cast<std::size_t>(aggregators) * fused, n = blocks().count();
        return std::clamp<std::size_t>(n / row + (n % row != 0), 1, slot_count);
    }
    /// The slots of all aggregators; slot s belongs to aggregator s mod A, where it is slot s / A.
    std::size_t all_slots() const { return slots_each() * static_cast<std::size_t>(aggregators); }
    /// Slot s has the columns s fused .. (s + 1) fused - 1.
    detail::omni_deal columns() const { return {blocks().count(), all_slots() * fused}; }

    /// The slots of an aggregator that one packet opens; the last packet may open fewer. So it is about as long as
    /// others.
    std::size_t slots_in_group() const { return std::clamp<std::size_t>(blocks().longest(), 1, slots_each()); }
    std::size_t groups_each() const { return (slots_each() + slots_in_group() - 1) / slots_in_group(); }

    /// In bytes, including the protocol's own header.
    template <Scalar T>
    std::size_t longest_packet() const {
        return omni_header_bytes +
               std::max(fused * (4 + blocks().longest() * sizeof(T)), 12 + 4 * fused * slots_in_group());
    }
    /// The digest that distinguishes streams.
    template <Scalar T>
    std::uint32_t digest() const {
        auto const text = detail::concat({"stream of blocks, version 1:", sizeof(T), " ", d, " ", workers, " ",
                                          aggregators, " ", co_located, " ", block, " ", fused, " ", slot_count});
        return detail::packet_check(std::as_bytes(std::span(text.data(), text.size())));
    }
};

namespace detail {

/// Values for: no further block; no error; a vector of another dimension, to which the dimension is added.
inline constexpr std::uint32_t no_block = 0xffffffffu;
inline constexpr std::uint64_t no_coordinate = ~std::uint64_t{0}, other_dimension = std::uint64_t{1} << 63;

}  // namespace detail

}  // namespace laconic
