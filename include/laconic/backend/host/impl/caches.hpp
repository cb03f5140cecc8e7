// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "laconic/backend/host/impl/instruction_set.hpp"
#include "laconic/core/contract.hpp"

/// Lines of memory that are asked for before a loop comes to them. What is asked for need not be anyone's memory.
namespace laconic::detail {

/// A Zen 4 goes on by itself once the next page's first line is asked for; each more that is asked for is in the way of
/// what it does. A Zen 3 and a Zen 5 gain by all lines.
inline constexpr bool fetches_pages = instruction_set::is_zen4;

/// The next page's first line, where that is enough, for who reads the `bytes` from p on and goes on behind them.
[[gnu::always_inline]] inline void fetch_next_page(void const* p, std::size_t bytes) {
    if constexpr (fetches_pages) {
        constexpr std::size_t page = std::size_t{1} << 12;
        auto const at = reinterpret_cast<std::uintptr_t>(p);  // a number: where it leads there may be no memory
        if (at % page < bytes) __builtin_prefetch(reinterpret_cast<void const*>(at - at % page + page), 0, 2);
    }
}

/// What comes behind the `bytes` from p on, for loops that read on and on, so many bytes at a time: the next page, or
/// else the `bytes` two pages behind. Some processors fetch ahead by themselves, but not across the end of a page; and
/// less far where a register's length crosses lines, as in most vectors. It gains nothing where p's whole vector is
/// shorter than some pages.
template <std::size_t bytes>
[[gnu::always_inline]] inline void fetch_ahead(void const* p) {
    if constexpr (fetches_pages)
        fetch_next_page(p, bytes);
    else {
        constexpr std::size_t line = 64, ahead = std::size_t{1} << 13;
        auto const next = reinterpret_cast<std::uintptr_t>(p) + ahead;  // a number: there may be no memory
        for (std::size_t i = 0; i < bytes; i += line) __builtin_prefetch(reinterpret_cast<void const*>(next + i));
    }
}

/// The line at p, which is going to be read: into the second cache, to which more lines are on their way at a time.
[[gnu::always_inline]] inline void fetch_to_read(void const* p) { __builtin_prefetch(p, 0, 2); }

/// The line at p, which is going to be written.
[[gnu::always_inline]] inline void fetch_to_write(void const* p) { __builtin_prefetch(p, 1); }

/// Whether a bucket is so long that, once its numbers have been read for what they share, the first are in no cache
/// near.
template <class T>
bool leaves_caches(std::span<T> bucket) {
    return bucket.size_bytes() >= std::size_t{1} << 19;
}

// Vectors longer than what caches keep, written past them: their memory is not read first, nothing is pushed out.

/// From how many bytes on that pays: the next reader has to fetch them from memory anyway.
inline constexpr std::size_t bytes_past_caches = std::size_t{1} << 24;

/// How many bytes there are from p to the next line of memory.
inline std::size_t bytes_before_line(void const* p) {
    constexpr std::size_t line = 64;
    return (line - reinterpret_cast<std::uintptr_t>(p) % line) % line;
}

/// Writes so many bytes, whole lines of memory, to where a line begins.
template <class A>
[[gnu::always_inline]] inline void copy_lines_past_caches(void const* from, void* to, std::size_t bytes) {
    if constexpr (instruction_set::has_sse2)
        for (std::size_t i = 0; i < bytes; i += 64)
            write_line_past_caches<A>(instruction_set::chosen{}, static_cast<std::byte const*>(from) + i,
                                      static_cast<std::byte*>(to) + i);
    else
        std::memcpy(to, from, bytes);
}

/// to <- from, of one length. Other threads may read it after order_past_caches(). For pieces of some hundred
/// bytes and more: the lines of memory at both ends are written as usual.
template <class A>
void copy_past_caches(std::span<std::byte const> from, std::span<std::byte> to) {
    LACONIC_EXPECTS(from.size() == to.size());
    std::size_t const before = std::min(bytes_before_line(to.data()), from.size());
    std::size_t const lines = (from.size() - before) / 64 * 64, after = from.size() - before - lines;
    if (before > 0) std::memcpy(to.data(), from.data(), before);
    if (lines > 0) copy_lines_past_caches<A>(from.data() + before, to.data() + before, lines);
    if (after > 0) std::memcpy(to.data() + before + lines, from.data() + before + lines, after);
}

/// What was copied comes before all that this thread writes from now on.
template <class A>
void order_past_caches() {
    if constexpr (instruction_set::has_sse2) order_lines_past_caches<A>(instruction_set::chosen{});
}

}  // namespace laconic::detail
