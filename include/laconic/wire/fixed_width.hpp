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

#include "laconic/wire/stream.hpp"

/// Many codes of one width, one after another, with the same bits as if each were put and taken alone. Eight of them
/// are whole bytes, and hundreds are packed in the first cache, by loops that compilers vectorize.
namespace laconic::detail {

// Packs the lowest `width` bits of each lane of 8 or 16 bits in a word of 64 side by side, and unpacks them: neighbours
// are moved together, then pairs of them, and so on.
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
    std::uint64_t squeezed(std::uint64_t word) const {
        auto const join = [&](unsigned s) {
            unsigned const apart = lane << s, by = (lane - width_) << s;
            word = (word & low_[s]) | (word & low_[s] << apart) >> by;
        };
        join(0);
        join(1);
        if constexpr (steps == 3) join(2);
        return word;
    }
    // Ignores the bits above the `lanes` codes.
    std::uint64_t spread(std::uint64_t word) const {
        auto const part = [&](unsigned s) {
            unsigned const apart = lane << s, by = (lane - width_) << s;
            word = (word & low_[s]) | (word << by & low_[s] << apart);
        };
        if constexpr (steps == 3) part(2);
        part(1);
        part(0);
        return word;
    }

  private:
    static constexpr unsigned steps = lane == 8 ? 3 : 2;

    unsigned width_;
    std::array<std::uint64_t, steps> low_{};
};

// Some hundred codes in lanes, each eight of which are `width` bytes.
template <class Lane>
class lane_packer {
  public:
    static constexpr std::size_t most = 512;

    explicit lane_packer(unsigned width) : width_(width), by_(width) {}

    std::array<Lane, most>& lanes() { return lanes_; }
    // The first n lanes as bytes, valid until the next call. n is a multiple of 8.
    std::span<std::byte const> packed(std::size_t n) {
        if (lanes_are_bytes()) return bytes(n);
        for (std::size_t i = 0; i < n / per_word; ++i) words_[i] = by_.squeezed(word_of(i));
        for (std::size_t g = 0; g < n / 8; ++g) {  // the next word overwrites the bits above
            auto* const to = bytes_.data() + g * width_;
            if constexpr (per_word == 8) {
                store_word(to, words_[g]);
            } else {
                auto const low = words_[2 * g], high = words_[2 * g + 1];
                store_word(to, low | high << (4 * width_ - 1) << 1);  // 4 width_ may be 64
                store_word(to + 8, high >> (64 - 4 * width_));
            }
        }
        return bytes(n);
    }
    // Where packed() puts the bytes of n lanes, and where unpack() takes them from.
    std::span<std::byte> bytes(std::size_t n) {
        if (lanes_are_bytes()) return std::as_writable_bytes(std::span(lanes_).first(n));
        return std::span(bytes_).first(n / 8 * width_);
    }
    void unpack(std::size_t n) {
        if (lanes_are_bytes()) return;
        for (std::size_t g = 0; g < n / 8; ++g) {
            auto const* const from = bytes_.data() + g * width_;
            if constexpr (per_word == 8) {
                words_[g] = load_word(from);
            } else {
                words_[2 * g] = load_word(from);
                words_[2 * g + 1] = load_word(from + width_ / 2) >> (width_ % 2 * 4);
            }
        }
        for (std::size_t i = 0; i < n / per_word; ++i) put_lanes(i, by_.spread(words_[i]));
    }

  private:
    static constexpr std::size_t per_word = lane_squeezer<Lane>::lanes;

    // Whether codes fill their lanes, whose memory is then as on the wire.
    bool lanes_are_bytes() const {
        return width_ == lane_squeezer<Lane>::lane && std::endian::native == std::endian::little;
    }
    // The lanes of one word, the first in the lowest bits.
    std::uint64_t word_of(std::size_t i) const {
        std::uint64_t word = 0;
        if constexpr (std::endian::native == std::endian::little)
            std::memcpy(&word, lanes_.data() + i * per_word, sizeof word);
        else
            for (std::size_t j = 0; j < per_word; ++j)
                word |= std::uint64_t{lanes_[i * per_word + j]} << (8 * sizeof(Lane) * j);
        return word;
    }
    void put_lanes(std::size_t i, std::uint64_t word) {
        if constexpr (std::endian::native == std::endian::little)
            std::memcpy(lanes_.data() + i * per_word, &word, sizeof word);
        else
            for (std::size_t j = 0; j < per_word; ++j)
                lanes_[i * per_word + j] = static_cast<Lane>(word >> (8 * sizeof(Lane) * j));
    }

    unsigned width_;
    lane_squeezer<Lane> by_;
    alignas(64) std::array<Lane, most> lanes_;
    alignas(64) std::array<std::uint64_t, most / per_word> words_;
    alignas(64) std::array<std::byte, most * sizeof(Lane) + 16> bytes_{};  // and room for the bits above the last
};

template <class Lane, class Codes, class WordOf>
void put_in_lanes(wire::bit_writer& sink, Codes const& codes, unsigned width, WordOf word_of) {
    lane_packer<Lane> pack(width);
    std::size_t i = 0;
    while (i + 8 <= codes.size()) {
        std::size_t const n = std::min(pack.most, (codes.size() - i) / 8 * 8);
        for (std::size_t j = 0; j < n; ++j) pack.lanes()[j] = static_cast<Lane>(word_of(codes[i + j]));
        sink.put_bytes(pack.packed(n));
        i += n;
    }
    for (; i < codes.size(); ++i) sink.put(static_cast<Lane>(word_of(codes[i])), width);
}

template <class Lane, class Codes, class Right, class CodeOf>
void take_in_lanes(wire::bit_reader& source, Codes& codes, unsigned width, Right right, char const* wrong,
                   CodeOf code_of) {
    using code = std::remove_reference_t<decltype(codes[0])>;
    std::size_t i = 0;
    lane_packer<Lane> pack(width);
    while (i + 8 <= codes.size()) {
        std::size_t const n = std::min(pack.most, (codes.size() - i) / 8 * 8);
        if (source.left() < n * width) break;
        auto const before = source;
        source.take_bytes_to(pack.bytes(n));
        pack.unpack(n);
        auto const& words = pack.lanes();
        unsigned any_wrong = 0;
        for (std::size_t j = 0; j < n; ++j) any_wrong |= right(words[j]) ? 0u : 1u;
        if (any_wrong != 0) {
            source = before;  // one by one, to find the place
            break;
        }
        code* const to = &codes[i];
        for (std::size_t j = 0; j < n; ++j) to[j] = static_cast<code>(code_of(words[j]));
        i += n;
    }
    for (; i < codes.size(); ++i) {
        auto const word = static_cast<Lane>(source.take(width));
        if (!right(word)) source.refuse(wrong);
        codes[i] = static_cast<code>(code_of(word));
    }
}

}  // namespace laconic::detail

namespace laconic::wire {

/// A code as the word for it.
struct as_it_is {
    constexpr auto operator()(auto code) const { return code; }
};

/// Puts word_of(code), which is below 2^width, of each code. width is in 1 .. 16. A sink that only adds widths gets the
/// number of bits, and the codes are not read.
template <BitSink W, class Codes, class WordOf = as_it_is>
void put_codes(W& sink, Codes const& codes, unsigned width, WordOf word_of = {}) {
    if constexpr (!std::same_as<W, bit_writer>)
        sink.add(std::uint64_t{width} * codes.size());
    else if (width <= 8)
        detail::put_in_lanes<std::uint8_t>(sink, codes, width, word_of);
    else
        detail::put_in_lanes<std::uint16_t>(sink, codes, width, word_of);
}

/// Fills codes, whose size is the number of codes, with code_of(word) of the next words; refuses the first word for
/// which right(word) is false, for the reason `wrong`. width is in 1 .. 16.
template <class Codes, class Right, class CodeOf = as_it_is>
void take_codes(bit_reader& source, Codes& codes, unsigned width, Right right, char const* wrong, CodeOf code_of = {}) {
    if (width <= 8)
        detail::take_in_lanes<std::uint8_t>(source, codes, width, right, wrong, code_of);
    else
        detail::take_in_lanes<std::uint16_t>(source, codes, width, right, wrong, code_of);
}

}  // namespace laconic::wire
