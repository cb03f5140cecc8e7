// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "laconic/wire/stream.hpp"

/// Many codes of one width, one after another, as if each were put and taken alone: but several to a word of 64 bits.
namespace laconic {

namespace detail {

// Of lanes of 8 or 16 bits in a word of 64, the lowest `width` bits, side by side and back: neighbours are moved
// together, then pairs of them, and so on.
template <class Lane>
class lane_squeezer {
  public:
    static constexpr unsigned lane = 8 * sizeof(Lane), lanes = 64 / lane;

    explicit lane_squeezer(unsigned width) : width_(width) {
        for (unsigned s = 0; s < steps; ++s) {
            unsigned const apart = lane << s, used = width << s;
            for (unsigned at = 0; at < 64; at += 2 * apart)
                low_[s] |= ((std::uint64_t{1} << used) - 1) << at;  // used <= 32
        }
    }
    unsigned width() const { return width_ * lanes; }

    std::uint64_t squeezed(Lane const* from) const {
        std::uint64_t word = 0;
        if constexpr (std::endian::native == std::endian::little)
            std::memcpy(&word, from, sizeof word);
        else
            for (unsigned j = 0; j < lanes; ++j) word |= std::uint64_t{from[j]} << (lane * j);
        auto const join = [&](unsigned s) {
            unsigned const apart = lane << s, by = (lane - width_) << s;
            word = (word & low_[s]) | (word & low_[s] << apart) >> by;
        };
        join(0);
        join(1);
        if constexpr (steps == 3) join(2);
        return word;
    }
    void spread(std::uint64_t word, Lane* to) const {
        auto const part = [&](unsigned s) {
            unsigned const apart = lane << s, by = (lane - width_) << s;
            word = (word & low_[s]) | (word << by & low_[s] << apart);
        };
        if constexpr (steps == 3) part(2);
        part(1);
        part(0);
        if constexpr (std::endian::native == std::endian::little)
            std::memcpy(to, &word, sizeof word);
        else
            for (unsigned j = 0; j < lanes; ++j) to[j] = static_cast<Lane>(word >> (lane * j));
    }

  private:
    static constexpr unsigned steps = lane == 8 ? 3 : 2;

    unsigned width_;
    std::array<std::uint64_t, steps> low_{};
};

inline constexpr std::size_t codes_together = 64;

template <class Lane, BitSink W, class Codes, class WordOf>
void put_in_lanes(W& sink, Codes const& codes, unsigned width, WordOf word_of) {
    lane_squeezer<Lane> const by(width);
    std::size_t i = 0;
    for (; i + codes_together <= codes.size(); i += codes_together) {
        std::array<Lane, codes_together> words;
        for (std::size_t j = 0; j < codes_together; ++j) words[j] = static_cast<Lane>(word_of(codes[i + j]));
        for (std::size_t j = 0; j < codes_together; j += by.lanes) sink.put(by.squeezed(words.data() + j), by.width());
    }
    for (; i < codes.size(); ++i) sink.put(static_cast<Lane>(word_of(codes[i])), width);
}

template <class Lane, BitSource R, class Codes, class Right, class CodeOf>
void take_in_lanes(R& source, Codes& codes, unsigned width, Right right, char const* wrong, CodeOf code_of) {
    std::size_t i = 0;
    if constexpr (requires { source.left(); }) {
        lane_squeezer<Lane> const by(width);
        while (i + codes_together <= codes.size() && source.left() >= codes_together * width) {
            auto const before = source;
            std::array<Lane, codes_together> words;
            for (std::size_t j = 0; j < codes_together; j += by.lanes)
                by.spread(source.take(by.width()), words.data() + j);
            unsigned any_wrong = 0;
            for (std::size_t j = 0; j < codes_together; ++j) any_wrong |= right(words[j]) ? 0u : 1u;
            if (any_wrong != 0) {
                source = before;  // one by one, to tell where
                break;
            }
            using code = std::remove_reference_t<decltype(codes[0])>;
            std::array<code, codes_together> made;
            for (std::size_t j = 0; j < codes_together; ++j) made[j] = static_cast<code>(code_of(words[j]));
            for (std::size_t j = 0; j < codes_together; ++j) codes[i + j] = made[j];
            i += codes_together;
        }
    }
    for (; i < codes.size(); ++i) {
        auto const word = static_cast<Lane>(source.take(width));
        if (!right(word)) source.refuse(wrong);
        codes[i] = static_cast<std::remove_reference_t<decltype(codes[0])>>(code_of(word));
    }
}

}  // namespace detail

/// Puts word_of(code), which is below 2^width, of each code. width = 1 .. 16.
template <BitSink W, class Codes, class WordOf>
void put_codes(W& sink, Codes const& codes, unsigned width, WordOf word_of) {
    if (width <= 8)
        detail::put_in_lanes<std::uint8_t>(sink, codes, width, word_of);
    else
        detail::put_in_lanes<std::uint16_t>(sink, codes, width, word_of);
}

/// Fills codes, whose size says how many there are, with code_of(word) of the next words; refuses, for the reason
/// `wrong`, the first of which right(word) is false. width = 1 .. 16.
template <BitSource R, class Codes, class Right, class CodeOf>
void take_codes(R& source, Codes& codes, unsigned width, Right right, char const* wrong, CodeOf code_of) {
    if (width <= 8)
        detail::take_in_lanes<std::uint8_t>(source, codes, width, right, wrong, code_of);
    else
        detail::take_in_lanes<std::uint16_t>(source, codes, width, right, wrong, code_of);
}

}  // namespace laconic
