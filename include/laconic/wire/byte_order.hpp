// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "laconic/core/view.hpp"

/// Numbers as bytes in the order of the wire, lowest first, whatever the machine's own order is.
namespace laconic::detail {

template <class N>
void store_little(std::byte* to, N value) {
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

}  // namespace laconic::detail
