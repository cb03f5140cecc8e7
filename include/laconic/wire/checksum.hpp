// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "laconic/core/contract.hpp"
#include "laconic/wire/byte_order.hpp"

namespace laconic::detail {

// The Castagnoli polynomial, lowest bit first: table j has what a byte adds that j others follow, so that eight bytes
// are looked up at a time (Kounavis, Berry, ISCC 2005).
inline auto make_checksum_tables() {
    std::array<std::array<std::uint32_t, 256>, 8> tables{};
    for (std::uint32_t n = 0; n < 256; ++n) {
        std::uint32_t c = n;
        for (int k = 0; k < 8; ++k) c = (c & 1) != 0 ? c >> 1 ^ 0x82f63b78u : c >> 1;
        tables[0][n] = c;
    }
    for (std::size_t j = 1; j < 8; ++j)
        for (std::size_t n = 0; n < 256; ++n) tables[j][n] = tables[0][tables[j - 1][n] & 255] ^ tables[j - 1][n] >> 8;
    return tables;
}

}  // namespace laconic::detail

namespace laconic::wire {

/// CRC-32C of bytes (Castagnoli; as in iSCSI, RFC 3720 B.4). It detects damage, not forgery.
inline std::uint32_t checksum(std::span<std::byte const> bytes) {
    static auto const t = detail::make_checksum_tables();  // as a constant it would take each includer 0.1 s to compile
    std::uint32_t c = 0xffffffffu;
    std::size_t i = 0;
    for (; i + 8 <= bytes.size(); i += 8) {
        auto const b = [&](std::size_t j) { return std::to_integer<std::uint32_t>(bytes[i + j]); };
        std::uint32_t const low = c ^ (b(0) | b(1) << 8 | b(2) << 16 | b(3) << 24);
        c = t[7][low & 255] ^ t[6][low >> 8 & 255] ^ t[5][low >> 16 & 255] ^ t[4][low >> 24] ^ t[3][b(4)] ^ t[2][b(5)] ^
            t[1][b(6)] ^ t[0][b(7)];
    }
    for (; i < bytes.size(); ++i) c = t[0][(c ^ std::to_integer<std::uint32_t>(bytes[i])) & 255] ^ c >> 8;
    return ~c;
}
/// Whether the last four bytes, of at least four, are the checksum of those before them, its low byte first.
inline bool ends_with_checksum(std::span<std::byte const> bytes) {
    return checksum(bytes.first(bytes.size() - 4)) == detail::load_half(bytes.last(4).data());
}

}  // namespace laconic::wire
