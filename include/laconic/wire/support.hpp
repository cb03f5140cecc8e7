// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

#include "laconic/core/term.hpp"
#include "laconic/wire/stream.hpp"

/// How a set of coordinates is spelled: as a bitmap, or as one number of ceil(log2 length) bits each, whichever is
/// shorter for this count. Both ends know the count, so the choice costs nothing.
namespace laconic {

namespace detail {

inline bool bitmap_is_shorter(std::size_t length, std::size_t count) {
    return std::uint64_t{length} < std::uint64_t{count} * width_of(length);
}

}  // namespace detail

/// Writes an ascending support within 0 .. length - 1.
template <BitSink W>
void write_support(W& sink, std::size_t length, std::span<coordinate const> support) {
    if (!detail::bitmap_is_shorter(length, support.size())) {
        for (coordinate const i : support) sink.put(i, width_of(length));
        return;
    }
    std::size_t at = 0;
    for (std::size_t first = 0; first < length; first += 64) {
        std::uint64_t word = 0;
        for (; at < support.size() && support[at] < first + 64; ++at) word |= std::uint64_t{1} << (support[at] - first);
        sink.put(word, length - first < 64 ? static_cast<unsigned>(length - first) : 64u);
    }
}

/// Fills `support`, whose size is the count; throws wire_error unless the coordinates ascend within 0 .. length - 1.
template <BitSource R>
void read_support(R& source, std::size_t length, std::span<coordinate> support) {
    if (!detail::bitmap_is_shorter(length, support.size())) {
        std::uint64_t least = 0;
        for (coordinate& i : support) {
            std::uint64_t const next = source.take(width_of(length));
            if (next >= length) source.refuse("coordinate " + std::to_string(next) + " of " + std::to_string(length));
            if (next < least) source.refuse("coordinate " + std::to_string(next) + " does not ascend");
            i = static_cast<coordinate>(next);
            least = next + 1;
        }
        return;
    }
    std::size_t at = 0;
    for (std::size_t first = 0; first < length; first += 64) {
        auto word = source.take(length - first < 64 ? static_cast<unsigned>(length - first) : 64u);
        if (at + static_cast<std::size_t>(std::popcount(word)) > support.size())
            source.refuse("the bitmap has more than " + std::to_string(support.size()) + " bits set");
        for (; word != 0; word &= word - 1)
            support[at++] = static_cast<coordinate>(first + static_cast<std::size_t>(std::countr_zero(word)));
    }
    if (at != support.size())
        source.refuse("the bitmap has fewer than " + std::to_string(support.size()) + " bits set");
}

}  // namespace laconic
