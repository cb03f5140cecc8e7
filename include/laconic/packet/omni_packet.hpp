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

/// What a packet of the stream of omni_machine is. From a worker to an aggregator: opening, blocks, leaving; back:
/// opened, sums, left, pending; from anybody to anybody: refusal.
enum class omni_kind : std::uint8_t {
    opening = 1,  ///< the first non-zero blocks of some slots' columns, or the first coordinate that is not finite
    opened,       ///< the least of all workers', or the least such worker and its coordinate
    blocks,       ///< the numbers of the blocks whose turn it is, as far as they are not zero, and what comes next
    sums,         ///< their sums, and the least of what comes next
    pending,      ///< that came, but not yet from all workers, and from which not
    leaving,      ///< a worker has all its sums
    left,         ///< that was received
    refusal       ///< nodes `slot` and `turn` run different collectives
};

/// What every packet begins with, in 24 bytes: four for a check of all the others, then these.
struct omni_header {
    std::uint32_t digest = 0;  ///< of what all nodes must agree on
    std::uint32_t round = 0;   ///< modulo 2^32
    omni_kind kind{};
    std::uint32_t columns = 0;  ///< a bit, of 24, for each column of the slot whose numbers are there
    std::uint32_t slot = 0;     ///< of an opening: a group of slots
    std::uint32_t turn = 0;     ///< of that slot, from 1 on; 0 for groups
};

namespace detail {

// Of bytes, in words of eight; any one bit that changes changes it in some of 64 bits, of which it keeps 32.
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

inline void store_half(std::byte* to, std::uint32_t word) {
    for (unsigned b = 0; b < 4; ++b) to[b] = static_cast<std::byte>(word >> 8 * b);
}
inline std::uint32_t load_half(std::byte const* from) {
    std::uint32_t word = 0;
    for (unsigned b = 0; b < 4; ++b) word |= std::to_integer<std::uint32_t>(from[b]) << 8 * b;
    return word;
}

}  // namespace detail

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

/// Reads a packet's header; false where it is too short or damaged, so that nothing in it counts.
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
