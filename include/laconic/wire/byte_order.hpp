// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "laconic/core/view.hpp"

/// Numbers as bytes in the order of the wire, lowest first, whatever the machine's own order is; and a checksum of
/// bytes.
namespace laconic::detail {

void store_little(std::byte* to, auto value) {
    std::memcpy(to, &value, sizeof value);
    if constexpr (std::endian::native != std::endian::little) std::reverse(to, to + sizeof value);
}
template <class N>
N load_little(std::byte const* from) {
    std::byte bytes[sizeof(N)];
    std::memcpy(bytes, from, sizeof bytes);
    if constexpr (std::endian::native != std::endian::little) std::reverse(bytes, bytes + sizeof bytes);
    N value;  // by std::memcpy, as nvcc ends in an error of its own at std::bit_cast of an array
    std::memcpy(&value, bytes, sizeof value);
    return value;
}
inline void store_word(std::byte* to, std::uint64_t word) { store_little(to, word); }
inline std::uint64_t load_word(std::byte const* from) { return load_little<std::uint64_t>(from); }
inline void store_half(std::byte* to, std::uint32_t word) { store_little(to, word); }
inline std::uint32_t load_half(std::byte const* from) { return load_little<std::uint32_t>(from); }

/// Numbers in full: all at once where the machine has the same order.
template <Scalar T>
void store_numbers(std::byte* to, std::span<T const> x) {
    if constexpr (std::endian::native == std::endian::little)
        std::copy_n(std::as_bytes(x).begin(), x.size_bytes(), to);
    else
        for (T const v : x) store_little(to, v), to += sizeof v;
}
template <Scalar T>
void load_numbers(std::byte const* from, std::span<T> x) {
    if constexpr (std::endian::native == std::endian::little)
        std::copy_n(from, x.size_bytes(), std::as_writable_bytes(x).begin());
    else
        for (T& v : x) v = load_little<T>(from), from += sizeof v;
}

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
