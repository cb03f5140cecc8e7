// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

/// Lines of memory that are asked for before a loop comes to them. What is asked for need not be anyone's memory.
namespace laconic::detail {

/// The `bytes` two pages behind those from p on, for loops that read on and on. Some processors fetch ahead by
/// themselves, but not across the end of a page; and less far where a register's length crosses lines, as in most
/// vectors. It gains nothing where p's whole vector is shorter than some pages.
template <std::size_t bytes>
[[gnu::always_inline]] inline void fetch_ahead([[maybe_unused]] void const* p) {
#if defined(__GNUC__)
    constexpr std::size_t line = 64, ahead = std::size_t{1} << 13;
    auto const next = reinterpret_cast<std::uintptr_t>(p) + ahead;  // a number: there may be no memory
    for (std::size_t i = 0; i < bytes; i += line) __builtin_prefetch(reinterpret_cast<void const*>(next + i));
#endif
}

/// The line at p, which is going to be written.
[[gnu::always_inline]] inline void fetch_to_write([[maybe_unused]] void const* p) {
#if defined(__GNUC__)
    __builtin_prefetch(p, 1);
#endif
}

}  // namespace laconic::detail
