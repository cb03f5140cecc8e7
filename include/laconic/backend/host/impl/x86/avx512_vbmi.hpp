// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "laconic/backend/code_words.hpp"
#include "laconic/backend/host/impl/x86/avx512.hpp"

/// Forms for AVX-512 that permute bytes.
namespace laconic::detail {

// As for AVX2, of a whole register's words at a time.
template <class A, class Code>
bool pack_words(instruction_set::avx512_vbmi, Code const* codes, std::size_t n, kernels::code_words f, std::byte* to) {
    unsigned const w = f.width;
    auto const each = [](unsigned v) {
        return sizeof(Code) == 1 ? _mm512_set1_epi8(static_cast<char>(v)) : _mm512_set1_epi16(static_cast<short>(v));
    };
    auto const mask = each(f.mask), offset = each(static_cast<unsigned>(f.offset));
    auto largest = _mm512_setzero_si512();
    auto const words_at = [&](Code const* p) {
        auto const some = _mm512_loadu_si512(p);
        auto const all = sizeof(Code) == 1 ? _mm512_add_epi8(some, offset) : _mm512_add_epi16(some, offset);
        auto const masked = _mm512_and_si512(all, mask);
        largest = sizeof(Code) == 1 ? _mm512_max_epu8(largest, masked) : _mm512_max_epu16(largest, masked);
        return all;
    };
    auto const right = [&] {
        if constexpr (sizeof(Code) == 1)
            return _mm512_cmpgt_epu8_mask(largest, each(f.most)) == 0;
        else
            return _mm512_cmpgt_epu16_mask(largest, each(f.most)) == 0;
    };
    auto const bytes_at = [&](Code const* p) {
        if constexpr (sizeof(Code) == 1)
            return words_at(p);
        else
            return _mm512_inserti64x4(_mm512_castsi256_si512(_mm512_cvtepi16_epi8(words_at(p))),
                                      _mm512_cvtepi16_epi8(words_at(p + 32)), 1);
    };
    auto const pairs = _mm512_set1_epi16(static_cast<short>(1 | 1u << w << 8));
    if (w == 8) {
        for (std::size_t i = 0; i < n; i += 64) _mm512_storeu_si512(to + i, bytes_at(codes + i));
    } else if (w == 4) {
        alignas(64) static constexpr auto lower = [] {
            std::array<std::uint8_t, 64> at{};
            for (std::size_t j = 0; j < 64; ++j) at[j] = static_cast<std::uint8_t>(2 * j);
            return at;
        }();
        auto const places = _mm512_load_si512(lower.data());
        std::size_t i = 0;
        for (; i + 128 <= n; i += 128, to += 64) {
            auto const a = _mm512_maddubs_epi16(pairs, bytes_at(codes + i));
            auto const b = _mm512_maddubs_epi16(pairs, bytes_at(codes + i + 64));
            _mm512_storeu_si512(to, _mm512_permutex2var_epi8(a, places, b));
        }
        if (i < n) {
            auto const a = _mm512_maddubs_epi16(pairs, bytes_at(codes + i));
            _mm512_storeu_si512(to, _mm512_permutex2var_epi8(a, places, a));
        }
    } else if (w < 8) {
        auto const fours = _mm512_set1_epi32(static_cast<int>(1 | 1u << 2 * w << 16));
        auto const up = _mm512_set1_epi64(32 - 4 * w);
        auto const down = _mm_cvtsi32_si128(static_cast<int>(32 - 4 * w));
        auto const places = _mm512_loadu_si512(places_of_eights[w].data());
        for (std::size_t i = 0; i < n; i += 64, to += 8 * w) {
            auto const apart = _mm512_madd_epi16(_mm512_maddubs_epi16(pairs, bytes_at(codes + i)), fours);
            auto const eights = _mm512_srl_epi64(_mm512_sllv_epi32(apart, up), down);
            _mm512_storeu_si512(to, _mm512_permutexvar_epi8(places, eights));
        }
    } else if constexpr (sizeof(Code) == 2) {
        if (w == 16) {
            for (std::size_t i = 0; i < n; i += 32) _mm512_storeu_si512(to + 2 * i, words_at(codes + i));
            return right();
        }
        auto const twos = _mm512_set1_epi32(static_cast<int>(1 | 1u << w << 16));
        auto const up = _mm512_set1_epi64(32 - 2 * w);
        unsigned const bits = 32 - 2 * w, half = w % 2 * 4;
        auto const down = _mm512_set4_epi64(bits - half, bits, bits - half, bits);
        auto const& parts = places_of_fours[w];
        auto const first = _mm512_loadu_si512(parts[0].data()), second = _mm512_loadu_si512(parts[1].data());
        auto const in_first = _knot_mask64(_mm512_movepi8_mask(first));
        auto const in_second = _knot_mask64(_mm512_movepi8_mask(second));
        for (std::size_t i = 0; i < n; i += 32, to += 4 * w) {
            auto const apart = _mm512_madd_epi16(words_at(codes + i), twos);
            auto const in_64 = _mm512_srlv_epi64(_mm512_sllv_epi32(apart, up), down);
            _mm512_storeu_si512(to, _mm512_or_si512(_mm512_maskz_permutexvar_epi8(in_first, first, in_64),
                                                    _mm512_maskz_permutexvar_epi8(in_second, second, in_64)));
        }
    }
    return right();
}

}  // namespace laconic::detail
