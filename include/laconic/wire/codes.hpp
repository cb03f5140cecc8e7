// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <type_traits>

#include "laconic/core/term.hpp"
#include "laconic/wire/fixed_width.hpp"

/// The encoding of codes -levels .. levels: code + levels in the least width that holds 2 levels. With one level, five
/// codes take eight bits: the sum of (code_j + 1) 3^j, j = 0 .. 4; a last group of r < 5 takes the least width that
/// holds 3^r - 1.
namespace laconic::detail {

inline constexpr std::size_t trits_in_group = 5;
inline constexpr char const* outside_grid = "a level outside the grid";

// The five codes of each word of a whole group.
inline constexpr auto codes_of_trits = [] {
    std::array<std::array<std::int8_t, trits_in_group>, 243> all{};
    for (unsigned word = 0; word < all.size(); ++word)
        for (unsigned j = 0, rest = word; j < trits_in_group; ++j, rest /= 3)
            all[word][j] = static_cast<std::int8_t>(static_cast<int>(rest % 3) - 1);
    return all;
}();

// The word of five codes, of 8 or 16 bits each.
template <class Code>
unsigned word_of_trits(Code const* c) {
    if constexpr (std::endian::native == std::endian::little) {
        // The first four at once: each becomes code + 1, and is then multiplied by 1, 3, 9 and 27 so that all four meet
        // in one lane.
        using word = std::conditional_t<sizeof(Code) == 1, std::uint32_t, std::uint64_t>;
        constexpr unsigned lane = 8 * sizeof(Code);
        constexpr word ones = static_cast<word>(-1) / ((word{1} << lane) - 1), threes = 3 * ones;
        word four;
        std::memcpy(&four, c, sizeof four);
        four = ((four & threes) + ones) & threes;
        four *= word{1} << (3 * lane) | word{3} << (2 * lane) | word{9} << lane | 27;
        return static_cast<unsigned>(four >> (3 * lane)) + 81 * static_cast<unsigned>(c[4] + 1);
    } else {
        return static_cast<unsigned>(121 + c[0] + 3 * c[1] + 9 * c[2] + 27 * c[3] + 81 * c[4]);
    }
}

template <wire::BitSink W, class Codes>
void write_trits(W& sink, Codes const& codes) {
    auto const* const c = codes.data();
    std::size_t const groups = codes.size() / trits_in_group;
    if constexpr (std::same_as<W, wire::bit_writer>) {
        std::array<std::byte, 256> bytes;
        for (std::size_t first = 0; first < groups; first += bytes.size()) {
            std::size_t const n = std::min(bytes.size(), groups - first);
            for (std::size_t g = 0; g < n; ++g)
                bytes[g] = static_cast<std::byte>(word_of_trits(c + (first + g) * trits_in_group));
            sink.put_bytes(std::span(bytes).first(n));
        }
    } else {
        sink.add(8 * std::uint64_t{groups});
    }
    std::uint64_t word = 0, values = 1;
    for (std::size_t j = groups * trits_in_group; j < codes.size(); ++j, values *= 3)
        word += values * static_cast<std::uint64_t>(c[j] + 1);
    if (values > 1) sink.put(word, width_of(values));
}
void read_trits(wire::bit_reader& source, auto codes) {
    using code = std::remove_cvref_t<decltype(codes[0])>;
    std::size_t first = 0;
    for (; first + 8 * trits_in_group <= codes.size() && source.left() >= 64; first += 8 * trits_in_group) {
        auto const before = source;
        std::uint64_t words = source.take(64);
        bool in_grid = true;
        for (std::size_t g = 0; g < 8; ++g, words >>= 8) {
            std::size_t const word = words & 255;
            in_grid &= word < codes_of_trits.size();
            auto const& made = codes_of_trits[word < codes_of_trits.size() ? word : 0];
            std::copy(made.begin(), made.end(), codes.data() + first + g * trits_in_group);
        }
        if (in_grid) continue;
        source = before;  // group by group, to find the place
        break;
    }
    for (; first < codes.size(); first += trits_in_group) {
        std::size_t const end = std::min(first + trits_in_group, codes.size());
        std::uint64_t values = 1;
        for (std::size_t j = first; j < end; ++j) values *= 3;
        std::uint64_t word = source.take(width_of(values));
        if (word >= values) source.refuse("levels outside the grid");
        for (std::size_t j = first; j < end; ++j, word /= 3)
            codes[j] = static_cast<code>(static_cast<int>(word % 3) - 1);
    }
}

}  // namespace laconic::detail

namespace laconic::wire {

/// The words of codes -levels .. levels, of more than one level.
constexpr kernels::code_words words_of_levels(int levels) {
    auto const most = 2 * static_cast<unsigned>(levels);
    return {detail::width_of(most + 1), levels, 0xffff, most};
}

/// How many bytes n of them take.
constexpr std::size_t bytes_of_codes(std::size_t n, int levels) {
    return levels == 1 ? (n + 4) / detail::trits_in_group : bytes_of_words(n, words_of_levels(levels));
}

/// Writes codes in -levels .. levels.
void write_codes(BitSink auto& sink, auto const& codes, int levels) {
    if (levels == 1) return detail::write_trits(sink, codes);
    put_codes(sink, codes, words_of_levels(levels));
}

/// The same of n codes as make(stream) makes them; sink has whole bytes.
template <class Code, OnHost B>
bool write_made(B& on, bit_writer& sink, int levels, std::size_t n, auto make) {
    if (levels > 1) return put_made<Code>(on, sink, words_of_levels(levels), n, make);
    make(kernels::code_stream<Code>{&sink, [](void* to, Code const* codes, std::size_t count) {
                                        detail::write_trits(*static_cast<bit_writer*>(to), std::span(codes, count));
                                    }});
    return true;
}

/// Fills codes, whose size is the number of codes; throws wire_error where one is outside -levels .. levels.
template <OnHost B, class Code>
void read_codes(B& on, bit_reader& source, std::span<Code> codes, int levels) {
    if (levels == 1) return detail::read_trits(source, codes);
    take_codes(on, source, codes, words_of_levels(levels), detail::outside_grid);
}
/// Reads the codes of the message m, for which `codes` has room, and adds w times its numbers to out, some codes at a
/// time; so where it throws, some are added. Ternary codes are read before.
template <OnHost B, class M, class Code, Scalar T>
void add_levels(B& on, bit_reader& source, M const& m, std::span<Code> codes, T w, added_to<T> out) {
    if (m.levels > 1)
        return add_codes<Code>(on, source, m, m.bucket, words_of_levels(m.levels), detail::outside_grid, w, out);
    detail::read_trits(source, codes);
    if (out.checked_first) source.finish();
    if (out.anew) fill(on, out.numbers, T(0));
    add_terms(on, out.numbers, w, m.terms_of(0, codes.data(), codes.size()));
}

}  // namespace laconic::wire
