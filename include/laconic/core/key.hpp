// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <bit>
#include <compare>
#include <cstdint>

#include "laconic/core/contract.hpp"

/// Named randomness. All randomness of the library is a function of a key; no generator has a state.
namespace laconic {

namespace detail {

/// Philox4x32 (Salmon, Moraes, Dror, Shaw, SC 2011): maps 128 bits of counter and 64 of key to 128 random bits. Seven
/// rounds are the fewest that pass all of TestU01's BigCrush (ibid., table 2); ten are the usual number.
constexpr std::array<std::uint32_t, 4> philox(std::array<std::uint32_t, 4> counter, std::array<std::uint32_t, 2> key,
                                              int rounds = 10) {
    for (int round = 0; round < rounds; ++round) {
        std::uint64_t const a = std::uint64_t{0xD2511F53u} * counter[0];
        std::uint64_t const b = std::uint64_t{0xCD9E8D57u} * counter[2];
        counter = {std::uint32_t(b >> 32) ^ counter[1] ^ key[0], std::uint32_t(b),
                   std::uint32_t(a >> 32) ^ counter[3] ^ key[1], std::uint32_t(a)};
        key = {key[0] + 0x9E3779B9u, key[1] + 0xBB67AE85u};
    }
    return counter;
}

// What a block of random bits is drawn for. Its number is part of the counter, so that no two purposes share a block.
struct purpose {
    std::uint32_t number;
    int rounds;
    bool is_common = false;
};
inline constexpr purpose for_words{0, 10}, for_children{1, 10}, for_ends_of_chances{2, 10, true},
    for_windows{3, 7, true};

}  // namespace detail

/// The name of a stream of random numbers. Whoever holds the same key draws the same numbers, on any rank and backend
/// and in any order; children of a key with different numbers name independent streams.
struct key {
    std::uint64_t bits = 0;
    std::uint64_t common = bits;  ///< in place of bits where ranks may draw the same: windows, chances, rotations
    std::uint16_t turn = 0;       ///< what is added to each window, modulo 2^16

    /// The n-th child of this key; seed.child(round).child(rank) names what one rank draws in one round.
    constexpr key child(std::uint64_t n) const {
        auto const r = block(detail::for_children, n);
        auto const own = r[0] | std::uint64_t{r[1]} << 32;
        return {own, common == bits ? own : key{common}.child(n).bits, turn};
    }

    /// The n-th four 32-bit words of the stream.
    constexpr std::array<std::uint32_t, 4> words(std::uint64_t n) const { return block(detail::for_words, n); }

    /// The n-th 32-bit word of the stream: word(4 n + j) is words(n)[j].
    constexpr std::uint32_t word(std::uint64_t n) const { return words(n / 4)[n % 4]; }

    /// The n-th 16 bits, for a comparison with a probability. They come from blocks of four words with seven rounds,
    /// which are cheaper, as each number of a vector needs one. A block gives sixteen windows, so that each of its 16
    /// bytes is the upper half of one window and the lower half of another: of the 16 words of blocks 4 g .. 4 g + 3,
    /// windows 64 g .. 64 g + 31 are the halves, the lower ones first, and windows 64 g + 32 .. 64 g + 63 the halves of
    /// the words rotated right by 8 bits. Each window is uniform. For two that share a byte, the events "is below a
    /// number" have a covariance of 0 to 2^-10, since the upper byte alone decides all but one comparison of 2^8.
    constexpr std::uint16_t window(std::uint64_t n) const {
        auto const whole = block(detail::for_windows, n / 64 * 4 + n % 32 / 8)[n / 2 % 4];
        return static_cast<std::uint16_t>(half_of(n % 64 < 32 ? whole : std::rotr(whole, 8), n) + turn);
    }

    /// The n-th 32-bit word, for a comparison with a probability: window(n), and below it 16 bits that no other word
    /// shares. The upper half alone decides all comparisons but one of 2^16.
    constexpr std::uint32_t chance(std::uint64_t n) const {
        return std::uint32_t{window(n)} << 16 | half_of(block(detail::for_ends_of_chances, n / 8)[n / 2 % 4], n);
    }

    /// The n-th 64-bit word of the stream: two halves of words(n / 2).
    constexpr std::uint64_t long_word(std::uint64_t n) const {
        auto const w = words(n / 2);
        return w[2 * (n % 2)] | std::uint64_t{w[2 * (n % 2) + 1]} << 32;
    }

    /// The n-th number of the stream in [0, 1), on a grid of 2^-53.
    constexpr double uniform(std::uint64_t n) const { return double(long_word(n) >> 11) * 0x1p-53; }

    /// The n-th integer of the stream in [0, bound), bound >= 1; each value's probability is off by less than 2^-64.
    constexpr std::uint64_t below(std::uint64_t n, std::uint64_t bound) const {
        // The high half of a 64 x 64 bit product, from 32-bit halves: portable, and constexpr.
        std::uint64_t const x = long_word(n), x1 = x >> 32, x0 = x & 0xffffffffu;
        std::uint64_t const b1 = bound >> 32, b0 = bound & 0xffffffffu;
        std::uint64_t const middle = x1 * b0 + (x0 * b0 >> 32);
        return x1 * b1 + (middle >> 32) + (((middle & 0xffffffffu) + x0 * b1) >> 32);
    }

    /// The n-th block of four words for a purpose, from which the functions above cut theirs.
    constexpr std::array<std::uint32_t, 4> block(detail::purpose use, std::uint64_t n) const {
        auto const from = bits_for(use);
        return detail::philox({std::uint32_t(n), std::uint32_t(n >> 32), use.number, 0},
                              {std::uint32_t(from), std::uint32_t(from >> 32)}, use.rounds);
    }
    constexpr std::uint64_t bits_for(detail::purpose use) const { return use.is_common ? common : bits; }

    auto operator<=>(key const&) const = default;

  private:
    static constexpr std::uint16_t half_of(std::uint32_t word, std::uint64_t n) {
        return static_cast<std::uint16_t>(word >> (16 * (n % 2)));
    }
};

}  // namespace laconic
