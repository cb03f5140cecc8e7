// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "laconic/comm/communicator.hpp"
#include "laconic/core/term.hpp"
#include "laconic/packet/omni_blocks.hpp"

namespace laconic {

/// The kinds of packets in the stream of omni_machine. From a worker to an aggregator: opening, blocks, leaving; back:
/// opened, sums, left, pending; from any node to any node: refusal.
enum class omni_kind : std::uint8_t {
    opening = 1,  ///< the first non-zero blocks of some slots' columns, or the first coordinate that is not finite
    opened,       ///< the least of all workers' first blocks, or the first worker with an error and its coordinate
    blocks,       ///< the numbers of the current blocks that are not zero, and the next blocks
    sums,         ///< their sums, and the least of the next blocks
    pending,      ///< the turn is not over; names a worker that has not taken it
    leaving,      ///< the worker has all its sums
    left,         ///< the answer to leaving
    refusal       ///< nodes `slot` and `turn` run different collectives
};

/// The header of every packet, 24 bytes: four for a check of all other bytes, then these.
struct omni_header {
    std::uint32_t digest = 0;  ///< of the settings on which all nodes must agree
    std::uint32_t round = 0;   ///< modulo 2^32
    omni_kind kind{};
    std::uint32_t columns = 0;  ///< 24 bits, one for each column of the slot whose numbers are in the packet
    std::uint32_t slot = 0;     ///< the slot; in an opening, the group of slots
    std::uint32_t turn = 0;     ///< the turn of that slot, from 1 on; 0 for groups

    /// The same of another kind, for this slot or group and this turn.
    omni_header with(omni_kind what, std::size_t at, std::uint32_t number = 0) const {
        return {digest, round, what, 0, static_cast<std::uint32_t>(at), number};
    }
};

namespace detail {

// A check of bytes, in words of eight: each changed bit changes some of 64 bits, of which 32 are kept.
inline std::uint32_t packet_check(std::span<std::byte const> bytes) {
    std::uint64_t h = 0x9e3779b97f4a7c15u ^ bytes.size();
    auto const mix = [&](std::uint64_t word) {
        h = (h ^ word) * 0xff51afd7ed558ccdu;
        h ^= h >> 32;
    };
    std::size_t i = 0;
    for (; i + 8 <= bytes.size(); i += 8) mix(load_word(bytes.data() + i));
    if (i < bytes.size()) {
        std::byte rest[8]{};
        std::memcpy(rest, bytes.data() + i, bytes.size() - i);
        mix(load_word(rest));
    }
    return static_cast<std::uint32_t>(h);
}

}  // namespace detail

/// The bytes of a header.
inline constexpr std::size_t omni_header_bytes = 24;

/// Writes a packet. Reuses its memory.
class omni_packet_writer {
  public:
    explicit omni_packet_writer(std::size_t longest = 0) { bytes_.reserve(longest); }

    omni_packet_writer& begin(omni_header const& h) {
        bytes_.resize(4);
        return half(h.digest)
            .half(h.round)
            .half(static_cast<std::uint32_t>(h.kind) | h.columns << 8)
            .half(h.slot)
            .half(h.turn);
    }
    omni_packet_writer& half(std::uint32_t word) {
        detail::store_half(more(4), word);
        return *this;
    }
    omni_packet_writer& word(std::uint64_t word) {
        detail::store_word(more(8), word);
        return *this;
    }
    template <Scalar T>
    omni_packet_writer& numbers(std::span<T const> x) {
        detail::store_numbers(more(x.size_bytes()), x);
        return *this;
    }
    /// The whole packet, valid until the next begin.
    std::span<std::byte const> finish() {
        detail::store_half(bytes_.data(), detail::packet_check(std::span(bytes_).subspan(4)));
        return bytes_;
    }

  private:
    std::byte* more(std::size_t n) {
        bytes_.resize(bytes_.size() + n);
        return bytes_.data() + bytes_.size() - n;
    }

    std::vector<std::byte> bytes_;
};

/// Reads a packet's header; returns false where it is too short or damaged, so that it must be ignored.
inline bool read_header(std::span<std::byte const> packet, omni_header& h) {
    if (packet.size() < omni_header_bytes) return false;
    auto const at = [&](std::size_t i) { return detail::load_half(packet.data() + 4 * i); };
    if (at(0) != detail::packet_check(packet.subspan(4))) return false;
    auto const kind = at(3) & 255;
    if (kind < static_cast<std::uint32_t>(omni_kind::opening) || kind > static_cast<std::uint32_t>(omni_kind::refusal))
        return false;
    h = {at(1), at(2), static_cast<omni_kind>(kind), at(3) >> 8, at(4), at(5)};
    return true;
}

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
        if (d > detail::largest_dimension) throw argument_error("more than 2^32 - 1 dimensions");
        if (workers < 1 || workers > 65536) throw argument_error({workers, " workers"});
        if (aggregators < 1 || aggregators > (co_located ? workers : 65536))
            throw argument_error({aggregators, " aggregators for ", workers, " workers"});
        if (fused < 1 || fused > 24) throw argument_error({fused, " blocks in a packet: 1 to 24 can be"});
        if (slot_count < 1 || slot_count > 65536) throw argument_error({slot_count, " slots"});
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

/// Whether what stands behind a header of blocks or sums fits the columns of its slot, whose current blocks are `here`:
/// numbers of some of these blocks, or of all, and in front of them each column's next block, of which may_come(column
/// in the slot, row, block) says whether it can be one from that row on.
template <Scalar T, class MayCome>
bool fits_columns(omni_stream const& how, omni_header const& h, std::span<std::byte const> sent,
                  std::span<std::uint32_t const> here, bool of_all, MayCome may_come) {
    if (h.columns >> here.size() != 0) return false;
    std::size_t bytes = 4 * here.size();
    for (std::size_t f = 0; f < here.size(); ++f) {
        bool const is_sent = (h.columns >> f & 1) != 0;
        if (here[f] == no_block ? is_sent : of_all && !is_sent) return false;
        if (is_sent) bytes += how.blocks().length(here[f]) * sizeof(T);
    }
    if (sent.size() != bytes) return false;
    auto const columns = how.columns();
    for (std::size_t f = 0; f < here.size(); ++f) {
        auto const next = load_half(sent.data() + 4 * f);
        if (here[f] == no_block ? next != no_block : !may_come(f, columns.row_of(here[f]) + 1, next)) return false;
    }
    return true;
}

}  // namespace detail

}  // namespace laconic
