// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "laconic/core/view.hpp"
#include "laconic/packet/omni_blocks.hpp"
#include "laconic/wire/stream.hpp"

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

}  // namespace laconic
