// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "laconic/core/term.hpp"
#include "laconic/wire/stream.hpp"

/// How codes -levels .. levels are spelled: code + levels in the least width that holds 2 levels. With one level, five
/// codes in eight bits: the sum of (code_j + 1) 3^j, j = 0 .. 4; a last group of r < 5 takes the least width that holds
/// 3^r - 1.
namespace laconic {

namespace detail {

inline constexpr std::size_t trits_in_group = 5;

template <BitSink W, class Codes>
void write_trits(W& sink, Codes const& codes) {
    for (std::size_t first = 0; first < codes.size(); first += trits_in_group) {
        std::uint64_t word = 0, values = 1;
        for (std::size_t j = first; j < std::min(first + trits_in_group, codes.size()); ++j, values *= 3)
            word += values * static_cast<std::uint64_t>(codes[j] + 1);
        sink.put(word, width_of(values));
    }
}
template <BitSource R, class Codes>
void read_trits(R& source, Codes& codes) {
    for (std::size_t first = 0; first < codes.size(); first += trits_in_group) {
        std::size_t const end = std::min(first + trits_in_group, codes.size());
        std::uint64_t values = 1;
        for (std::size_t j = first; j < end; ++j) values *= 3;
        std::uint64_t word = source.take(width_of(values));
        if (word >= values) source.refuse("levels outside the grid");
        for (std::size_t j = first; j < end; ++j, word /= 3)
            codes[j] = static_cast<std::int16_t>(static_cast<int>(word % 3) - 1);
    }
}

}  // namespace detail

template <BitSink W, class Codes>
void write_codes(W& sink, Codes const& codes, int levels) {
    if (levels == 1) return detail::write_trits(sink, codes);
    unsigned const width = width_of(2 * static_cast<std::uint64_t>(levels) + 1);
    for (auto const code : codes) sink.put(static_cast<std::uint64_t>(code + levels), width);
}

/// Fills codes, whose size says how many there are; throws wire_error where one is outside -levels .. levels.
template <BitSource R, class Codes>
void read_codes(R& source, Codes& codes, int levels) {
    if (levels == 1) return detail::read_trits(source, codes);
    unsigned const width = width_of(2 * static_cast<std::uint64_t>(levels) + 1);
    for (auto& code : codes) {
        auto const word = source.take(width);
        if (word > 2 * static_cast<std::uint64_t>(levels)) source.refuse("a level outside the grid");
        code = static_cast<std::int16_t>(static_cast<int>(word) - levels);
    }
}

}  // namespace laconic
