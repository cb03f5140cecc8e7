// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

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
    auto const mask = each(f.mask), most = each(f.most), offset = each(static_cast<unsigned>(f.offset));
    auto beyond = _mm512_setzero_si512();
    auto const words_at = [&](Code const* p) {
        auto const some = _mm512_loadu_si512(p);
        auto const all = sizeof(Code) == 1 ? _mm512_add_epi8(some, offset) : _mm512_add_epi16(some, offset);
        auto const above = sizeof(Code) == 1 ? _mm512_subs_epu8(_mm512_and_si512(all, mask), most)
                                             : _mm512_subs_epu16(_mm512_and_si512(all, mask), most);
        beyond = _mm512_or_si512(beyond, above);
        return all;
    };
    auto const bytes_at = [&](Code const* p) {
        if constexpr (sizeof(Code) == 1)
            return words_at(p);
        else
            return _mm512_inserti64x4(_mm512_castsi256_si512(_mm512_cvtepi16_epi8(words_at(p))),
                                      _mm512_cvtepi16_epi8(words_at(p + 32)), 1);
    };
    if (w == 8) {
        for (std::size_t i = 0; i < n; i += 64) _mm512_storeu_si512(to + i, bytes_at(codes + i));
    } else if (w < 8) {
        auto const pairs = _mm512_set1_epi16(static_cast<short>(1 | 1u << w << 8));
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
    return _mm512_test_epi64_mask(beyond, beyond) == 0;
}

}  // namespace laconic::detail
