// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

/// Lines of memory that are asked for before a loop comes to them. What is asked for need not be anyone's memory.
namespace laconic::detail {

/// What comes behind the `bytes` from p on, for loops that read on and on, so many bytes at a time. Some processors
/// fetch ahead by themselves, but not across the end of a page; and less far where a register's length crosses lines,
/// as in most vectors. It gains nothing where p's whole vector is shorter than some pages.
template <std::size_t bytes>
[[gnu::always_inline]] inline void fetch_ahead([[maybe_unused]] void const* p) {
#if defined(__GNUC__)
    constexpr std::size_t page = std::size_t{1} << 12;
    auto const at = reinterpret_cast<std::uintptr_t>(p);  // a number: where it leads there may be no memory
#    if (defined(__znver3__) || defined(__znver4__)) && !defined(__AVXVNNI__)
    // Zen 3 and 4 (with AVX-VNNI it is a Zen 5, which older compilers do not know): once the next page's first line is
    // asked for they go on by themselves, and each more that is asked for is in the way of what they do.
    static_assert(bytes <= page);
    if (at % page < bytes) __builtin_prefetch(reinterpret_cast<void const*>(at - at % page + page), 0, 2);
#    else
    constexpr std::size_t line = 64;
    for (std::size_t i = 0; i < bytes; i += line) __builtin_prefetch(reinterpret_cast<void const*>(at + 2 * page + i));
#    endif
#endif
}

/// The line at p, which is going to be written.
[[gnu::always_inline]] inline void fetch_to_write([[maybe_unused]] void const* p) {
#if defined(__GNUC__)
    __builtin_prefetch(p, 1);
#endif
}

}  // namespace laconic::detail
