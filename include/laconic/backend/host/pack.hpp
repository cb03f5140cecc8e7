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

// How many bytes behind the words forms for one instruction set may write.
inline constexpr std::size_t written_behind = 64;

// What pack_codes does, of n codes, a multiple of 8 up to words_together; up to 16 bytes behind the words are written,
// too.
template <class A, class Code>
bool pack_words(instruction_set::generic, Code const* codes, std::size_t n, kernels::code_words f, std::byte* to) {
    constexpr std::size_t per_word = lane_squeezer<Code>::lanes;
    auto const mask = static_cast<Code>(f.mask), most = static_cast<Code>(f.most), offset = static_cast<Code>(f.offset);
    alignas(64) std::array<Code, words_together> lanes;
    Code wrong = 0;
    for (std::size_t j = 0; j < n; ++j) {
        lanes[j] = static_cast<Code>(codes[j] + offset);
        wrong |= static_cast<Code>((lanes[j] & mask) > most);
    }
    if (f.width == 8 * sizeof(Code)) {
        std::memcpy(to, lanes.data(), n * sizeof(Code));
        return wrong == 0;
    }
    lane_squeezer<Code> const by(f.width);
    alignas(64) std::array<std::uint64_t, words_together / per_word> words;
    std::memcpy(words.data(), lanes.data(), n * sizeof(Code));
    for (std::size_t w = 0; w < n / per_word; ++w) words[w] = by.squeezed(words[w]);
    for (std::size_t g = 0; g < n / 8; ++g, to += f.width)  // the next word overwrites the bits above
        if constexpr (per_word == 8) {
            std::memcpy(to, &words[g], 8);
        } else {
            std::uint64_t const low = words[2 * g], high = words[2 * g + 1], all = low | high << 4 * f.width,
                                above = high >> (64 - 4 * f.width);
            std::memcpy(to, &all, 8);
            std::memcpy(to + 8, &above, 8);
        }
    return wrong == 0;
}

}  // namespace laconic::detail

namespace laconic::kernels {

/// bytes <- the words of `codes` of which each fits `width` bits, padded with zeros to a whole byte; returns whether
/// each of them is that of a code. Code is std::uint8_t or std::uint16_t: what is negative wraps around. What is in
/// `bytes` behind them may be overwritten. Of backends of the host's memory alone.
template <class A, class Code>
bool pack_codes(basic_host<A>&, std::span<Code const> codes, code_words f, std::span<std::byte> bytes) {
    using namespace laconic::detail;
    LACONIC_EXPECTS(f.width <= 8 * sizeof(Code) && bytes.size() >= (f.width * codes.size() + 7) / 8);
    std::size_t i = 0;
    bool right = true;
    if constexpr (std::endian::native == std::endian::little) {
        std::array<std::byte, sizeof(Code) * words_together + 16> last;  // behind which too few bytes follow
        for (std::size_t n; i + 8 <= codes.size(); i += n) {
            auto const left = codes.subspan(i);
            auto const rest = bytes.subspan(i / 8 * f.width);
            if constexpr (instruction_set::has_avx2) {
                std::size_t const room = rest.size() - std::min(rest.size(), written_behind);
                n = std::min(left.size(), room / f.width * 8) / 64 * 64;
                if (n > 0 && f.width != 15) {
                    right &= pack_words<A>(instruction_set::chosen{}, left.data(), n, f, rest.data());
                    continue;
                }
            }
            n = std::min(words_together, left.size() / 8 * 8);
            std::size_t const written = n / 8 * f.width;
            bool const is_last = rest.size() < written + 16;
            auto* const to = is_last ? last.data() : rest.data();
            right &= pack_words<A>(instruction_set::generic{}, left.data(), n, f, to);
            if (is_last) std::memcpy(rest.data(), last.data(), written);
        }
    }
    return pack_one_by_one(codes.subspan(i), f, bytes.subspan(i / 8 * f.width)) && right;
}

}  // namespace laconic::kernels
