// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "laconic/backend/code_words.hpp"
#include "laconic/backend/host/memory.hpp"

namespace laconic::detail {

// What unpack_codes does, of n words, a multiple of 8 up to words_together, behind which 16 bytes more can be read.
template <class A, class Code>
bool unpack_words(instruction_set::generic, std::byte const* from, std::size_t n, kernels::code_words f, Code* to) {
    constexpr std::size_t per_word = lane_squeezer<Code>::lanes;
    alignas(64) std::array<std::uint64_t, words_together / per_word> words;
    if (f.width < 8 * sizeof(Code)) {
        lane_squeezer<Code> const by(f.width);
        auto const load = [](std::byte const* p) {
            std::uint64_t word;
            std::memcpy(&word, p, sizeof word);
            return word;
        };
        for (std::size_t g = 0; g < n / 8; ++g, from += f.width)  // each eight codes are `width` bytes
            if constexpr (per_word == 8) {
                words[g] = load(from);
            } else {
                words[2 * g] = load(from);
                words[2 * g + 1] = load(from + f.width / 2) >> (f.width % 2 * 4);
            }
        for (std::size_t w = 0; w < n / per_word; ++w) words[w] = by.spread(words[w]);
        from = reinterpret_cast<std::byte const*>(words.data());
    }
    auto const mask = static_cast<Code>(f.mask), most = static_cast<Code>(f.most), offset = static_cast<Code>(f.offset);
    Code wrong = 0;
    for (std::size_t j = 0; j < n; ++j) {
        Code word;
        std::memcpy(&word, from + j * sizeof word, sizeof word);
        wrong |= static_cast<Code>((word & mask) > most);
        to[j] = static_cast<Code>(word - offset);
    }
    return wrong == 0;
}

}  // namespace laconic::detail

namespace laconic::kernels {

/// codes <- what the first words of `bytes` stand for; returns whether each of them is that of a code. Code is
/// std::uint8_t or std::uint16_t: what is negative wraps around. Of backends of the host's memory alone.
template <class A, class Code>
bool unpack_codes(basic_host<A>&, std::span<std::byte const> bytes, code_words f, std::span<Code> codes) {
    using namespace laconic::detail;
    LACONIC_EXPECTS(f.width <= 8 * sizeof(Code) && bytes.size() >= (f.width * codes.size() + 7) / 8);
    std::size_t i = 0;
    bool right = true;
    if constexpr (std::endian::native == std::endian::little) {
        std::array<std::byte, sizeof(Code) * words_together + 16> last;  // of which too few bytes follow
        for (std::size_t n; i + 8 <= codes.size(); i += n) {
            n = std::min(words_together, (codes.size() - i) / 8 * 8);
            if (n > 32) n -= n % 32;
            auto const rest = bytes.subspan(i / 8 * f.width);
            std::size_t const read = n / 8 * f.width;
            bool const is_last = rest.size() < read + 16;
            if (is_last) {
                std::memcpy(last.data(), rest.data(), read);
                std::memset(last.data() + read, 0, 16);
            }
            auto const* const from = is_last ? last.data() : rest.data();
            bool const fast = n % 32 == 0 && f.width <= 7 + sizeof(Code);
            right &= fast ? unpack_words<A>(instruction_set::chosen{}, from, n, f, codes.data() + i)
                          : unpack_words<A>(instruction_set::generic{}, from, n, f, codes.data() + i);
        }
    }
    return unpack_one_by_one(bytes.subspan(i / 8 * f.width), f, codes.subspan(i)) && right;
}

}  // namespace laconic::kernels
