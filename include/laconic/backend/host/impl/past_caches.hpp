// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "laconic/backend/host/impl/instruction_set.hpp"
#include "laconic/core/contract.hpp"

/// Vectors that are longer than what caches keep, written past them: their memory is not read first, and nothing else
/// is pushed out.
namespace laconic::detail {

/// From how many bytes on that pays: the next reader has to fetch them from memory anyway.
inline constexpr std::size_t bytes_past_caches = std::size_t{1} << 24;

/// to <- from, of one length. Other threads may read it after order_past_caches(). For pieces of some hundred
/// bytes and more: the lines of memory at both ends are written as usual.
template <class A>
void copy_past_caches(std::span<std::byte const> from, std::span<std::byte> to) {
    LACONIC_EXPECTS(from.size() == to.size());
    std::size_t i = 0;
    if constexpr (instruction_set::has_sse2) {
        constexpr std::size_t line = 64;
        std::size_t const before = (line - reinterpret_cast<std::uintptr_t>(to.data()) % line) % line;
        i = std::min(before, from.size());
        if (i > 0) std::memcpy(to.data(), from.data(), i);
        for (; i + line <= from.size(); i += line)
            write_line_past_caches<A>(instruction_set::chosen{}, from.data() + i, to.data() + i);
    }
    if (i < from.size()) std::memcpy(to.data() + i, from.data() + i, from.size() - i);
}

/// What was copied comes before all that this thread writes from now on.
template <class A>
void order_past_caches() {
    if constexpr (instruction_set::has_sse2) order_lines_past_caches<A>(instruction_set::chosen{});
}

}  // namespace laconic::detail
