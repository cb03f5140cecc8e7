// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "laconic/core/contract.hpp"

namespace laconic::kernels {

/// How codes lie in a row of words of `width` bits, 1 .. 16, from the lowest bit of the first byte on: as code +
/// offset. A word whose bits in `mask` are above `most` stands for no code.
struct code_words {
    unsigned width;
    int offset = 0;
    unsigned mask = 0xffff, most = 0xffff;

    constexpr bool has(unsigned word) const { return (word & mask) <= most; }
};

/// The kernel pack_codes of a backend, and that backend, whatever its type.
struct code_packer {
    void* on = nullptr;
    bool (*bytes)(void*, std::span<std::uint8_t const>, code_words, std::span<std::byte>) = nullptr;
    bool (*shorts)(void*, std::span<std::uint16_t const>, code_words, std::span<std::byte>) = nullptr;

    friend bool pack_codes(code_packer const& by, std::span<std::uint8_t const> codes, code_words words,
                           std::span<std::byte> to) {
        return by.bytes(by.on, codes, words, to);
    }
    friend bool pack_codes(code_packer const& by, std::span<std::uint16_t const> codes, code_words words,
                           std::span<std::byte> to) {
        return by.shorts(by.on, codes, words, to);
    }
};

}  // namespace laconic::kernels

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

// How many codes are packed, or unpacked, at a time: so few that they stay in the first cache.
inline constexpr std::size_t words_together = 512;

// What pack_codes does, by its definition.
template <class Code>
bool pack_one_by_one(std::span<Code const> codes, kernels::code_words f, std::span<std::byte> bytes) {
    std::fill_n(bytes.begin(), (f.width * codes.size() + 7) / 8, std::byte{});
    bool right = true;
    for (std::size_t i = 0; i < codes.size(); ++i) {
        unsigned const word = static_cast<Code>(static_cast<int>(codes[i]) + f.offset);
        right = right && f.has(word);
        for (std::size_t b = 0, bit = i * f.width; b < f.width; ++b, ++bit)
            bytes[bit / 8] |= static_cast<std::byte>((word >> b & 1) << bit % 8);
    }
    return right;
}

// What unpack_codes does, by its definition.
template <class Code>
bool unpack_one_by_one(std::span<std::byte const> bytes, kernels::code_words f, std::span<Code> codes) {
    bool right = true;
    for (std::size_t i = 0; i < codes.size(); ++i) {
        unsigned word = 0;
        for (std::size_t b = 0, bit = i * f.width; b < f.width; ++b, ++bit)
            word |= (std::to_integer<unsigned>(bytes[bit / 8]) >> bit % 8 & 1) << b;
        right = right && f.has(word);
        codes[i] = static_cast<Code>(static_cast<int>(word) - f.offset);
    }
    return right;
}

}  // namespace laconic::detail
