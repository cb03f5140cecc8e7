// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace laconic {

namespace detail {

// The Castagnoli polynomial, lowest bit first.
inline constexpr auto checksum_table = [] {
    std::array<std::uint32_t, 256> table{};
    for (std::uint32_t n = 0; n < 256; ++n) {
        std::uint32_t c = n;
        for (int k = 0; k < 8; ++k) c = (c & 1) != 0 ? c >> 1 ^ 0x82f63b78u : c >> 1;
        table[n] = c;
    }
    return table;
}();

}  // namespace detail

/// CRC-32C of bytes (Castagnoli; as in iSCSI, RFC 3720 B.4): it tells damage, not forgery.
constexpr std::uint32_t checksum(std::span<std::byte const> bytes) {
    std::uint32_t c = 0xffffffffu;
    for (std::byte const b : bytes) c = detail::checksum_table[(c ^ std::to_integer<std::uint32_t>(b)) & 255] ^ c >> 8;
    return ~c;
}

}  // namespace laconic
