// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "laconic/backend/host/round_at_random.hpp"
#include "laconic/core/view.hpp"

#if defined(__AVX2__) && !defined(LACONIC_SCALAR)
#    include <immintrin.h>
#endif

/// The inner loops of round.hpp for floats, in the instructions of AVX2 and AVX-512: compilers make at least twice as
/// many of the plain loops. Each rounds rounded_together values, and tells by bits which of them their windows leave
/// undecided, as round_at_random wants to know it. All are inline, so that what a bucket has in common is made once.
namespace laconic::detail {

/// |x| times per_cut in place of |x| / step x 2^16, as a product takes a sixth of a quotient's time. Where |x| is at
/// most levels x step, the three roundings put them no further apart than 3 x 2^-24 of levels x 2^16, and rounded down,
/// for up to 255 levels, no further than `off`.
template <Scalar T>
struct near_quotient {
    static constexpr int off = 3;

    T per_cut;
    bool near;  ///< Whether there are so few levels, and per_cut is as exact as any number.

    near_quotient(T step, int levels)
        : per_cut(T(0x1p16) / step), near(levels <= 255 && per_cut > T(0x1p-100) && per_cut < T(0x1p100)) {}
};

#if defined(__AVX512BW__) && !defined(LACONIC_SCALAR)

// Of 32 numbers of 32 bits, the first 16 in a: their lower or upper halves, in order.
inline __m512i halves_of(__m512i a, __m512i b, int upper) {
    alignas(64) static constexpr auto places = [] {
        std::array<std::array<std::uint16_t, 32>, 2> at{};
        for (std::size_t j = 0; j < 32; ++j) {
            at[0][j] = static_cast<std::uint16_t>(2 * j);
            at[1][j] = static_cast<std::uint16_t>(2 * j + 1);
        }
        return at;
    }();
    return _mm512_permutex2var_epi16(a, _mm512_load_si512(places[static_cast<std::size_t>(upper)].data()), b);
}

// What the loops of round_to_levels do, and of round_to_range, whose codes have no sign, but for the quotient: so what
// is cut off and nearly the draw is undecided. That is so wherever the highest level would be left: what is cut off
// there is nearly 0, and the draw below it. A range may end a little above its highest level: there codes are limited.
template <class A, class Code>
[[gnu::always_inline]] inline std::uint64_t round_to_grid_avx512(float const* v, float least, int most,
                                                                 near_quotient<float> q, std::uint16_t const* windows,
                                                                 Code* out) {
    constexpr bool is_range = std::is_unsigned_v<Code>;
    auto const all = [](int n) { return _mm512_set1_epi16(static_cast<std::int16_t>(n)); };
    auto const scale = _mm512_set1_ps(q.per_cut), from = _mm512_set1_ps(least);
    auto const one = all(1), off = all(q.off), window = all(-8), highest = all(most);
    static_assert(2 * q.off + 1 < 8);
    std::array<__mmask64, 2> near;
    for (std::size_t j = 0; j < rounded_together; j += 32) {
        auto const on_grid = [&](float const* p) {
            auto const x = _mm512_loadu_ps(p);
            return _mm512_cvttps_epi32(_mm512_mul_ps(is_range ? _mm512_sub_ps(x, from) : x, scale));
        };
        auto const a = on_grid(v + j), b = on_grid(v + j + 16);
        // Of negative numbers, `cut` is what is missing from 2^16, `below` one less where that is not 0, and all bits
        // of the draws are turned: so they go to where the positive ones do.
        auto const cut = halves_of(a, b, 0), below = halves_of(a, b, 1);
        auto draws = _mm512_loadu_si512(windows + j);
        if constexpr (!is_range) draws = _mm512_xor_si512(draws, _mm512_srai_epi16(below, 15));
        auto const up = _mm512_cmplt_epu16_mask(draws, cut);
        auto const level = _mm512_mask_add_epi16(below, up, below, one);
        if constexpr (sizeof(Code) == 2)
            _mm512_storeu_si512(out + j, level);
        else
            _mm256_storeu_si256(reinterpret_cast<__m256i*>(out + j),
                                _mm512_cvtepi16_epi8(is_range ? _mm512_min_epi16(level, highest) : level));
        // Modulo 2^16, as the product may be on the other side of a whole number; between -off and off + 1.
        auto const apart = _mm512_sub_epi16(cut, draws);
        near[j / 32] = _mm512_testn_epi16_mask(_mm512_add_epi16(apart, off), window);
    }
    return _mm512_kunpackd(near[1], near[0]);
}

// What the loops of round_to_powers do.
template <class A>
[[gnu::always_inline]] inline std::uint64_t round_to_powers_avx512(float const* v, std::uint16_t const* windows,
                                                                   std::uint16_t* out) {
    auto const exponents = _mm512_set1_epi16(0xff), last = _mm512_set1_epi16(254), one = _mm512_set1_epi16(1);
    std::array<__mmask64, 2> equal;
    for (std::size_t j = 0; j < rounded_together; j += 32) {
        // So that exponents are upper halves, and the first 16 bits of what is cut off lower ones.
        auto const load = [](float const* p) { return _mm512_srli_epi32(_mm512_loadu_si512(p), 7); };
        auto const a = load(v + j), b = load(v + j + 16);
        auto const cut = halves_of(a, b, 0), below = halves_of(a, b, 1);
        auto const draws = _mm512_loadu_si512(windows + j);
        auto const larger = _mm512_cmplt_epu16_mask(_mm512_and_si512(below, exponents), last);  // there is one
        auto const up = _mm512_mask_cmplt_epu16_mask(larger, draws, cut);
        equal[j / 32] = _mm512_cmpeq_epu16_mask(draws, cut);
        _mm512_storeu_si512(out + j, _mm512_mask_add_epi16(below, up, below, one));
    }
    return _mm512_kunpackd(equal[1], equal[0]);
}

#endif

#if defined(__AVX2__) && !defined(LACONIC_SCALAR)

// What the loops of round_to_levels do, which compilers narrow to 16 bits with twice as many instructions.
template <class A, class Code>
[[gnu::always_inline]] inline std::uint64_t round_to_levels_avx2(float const* v, float step, int levels,
                                                                 std::uint16_t const* windows, Code* out) {
    auto const signs = _mm256_set1_ps(-0.0f), unit = _mm256_set1_ps(step), scale = _mm256_set1_ps(0x1p16f);
    auto const one = _mm256_set1_epi16(1), most = _mm256_set1_epi16(static_cast<std::int16_t>(levels));
    auto const none = _mm256_setzero_si256();
    auto equal = none;
    for (std::size_t j = 0; j < rounded_together; j += 16) {
        // Eight from two places, so that narrowing leaves all in order.
        auto const load = [&](float const* p) {
            return _mm256_insertf128_ps(_mm256_castps128_ps256(_mm_loadu_ps(p)), _mm_loadu_ps(p + 8), 1);
        };
        auto const on_grid = [&](__m256 x) {
            return _mm256_cvttps_epi32(_mm256_mul_ps(_mm256_div_ps(_mm256_andnot_ps(signs, x), unit), scale));
        };
        auto const a = load(v + j), b = load(v + j + 4);
        auto const i = on_grid(a), k = on_grid(b);
        auto const cut = _mm256_packus_epi32(_mm256_blend_epi16(i, none, 0xaa), _mm256_blend_epi16(k, none, 0xaa));
        auto const below = _mm256_packs_epi32(_mm256_srai_epi32(i, 16), _mm256_srai_epi32(k, 16));
        auto const draws = _mm256_loadu_si256(reinterpret_cast<__m256i const*>(windows + j));
        auto const stays = _mm256_cmpeq_epi16(_mm256_subs_epu16(cut, draws), none);  // -1 where cut <= draws
        auto const level = _mm256_min_epu16(_mm256_add_epi16(_mm256_add_epi16(below, one), stays), most);
        equal = _mm256_or_si256(equal, _mm256_cmpeq_epi16(cut, draws));
        auto const negative = _mm256_packs_epi32(_mm256_castps_si256(a), _mm256_castps_si256(b));
        auto const code = _mm256_sign_epi16(level, negative);
        if constexpr (sizeof(Code) == 2)
            _mm256_storeu_si256(reinterpret_cast<__m256i*>(out + j), code);
        else
            _mm_storeu_si128(reinterpret_cast<__m128i*>(out + j),
                             _mm_packs_epi16(_mm256_castsi256_si128(code), _mm256_extracti128_si256(code, 1)));
    }
    return all_bits_if(_mm256_testz_si256(equal, equal) == 0);
}

// What the loops of round_to_powers do.
template <class A>
[[gnu::always_inline]] inline std::uint64_t round_to_powers_avx2(float const* v, std::uint16_t const* windows,
                                                                 std::uint16_t* out) {
    auto const exponents = _mm256_set1_epi16(0xff), last_but_one = _mm256_set1_epi16(253), one = _mm256_set1_epi16(1);
    auto const none = _mm256_setzero_si256();
    auto equal = none;
    for (std::size_t j = 0; j < rounded_together; j += 16) {
        auto const load = [&](float const* p) {  // eight from two places, as above
            return _mm256_castps_si256(
                _mm256_insertf128_ps(_mm256_castps128_ps256(_mm_loadu_ps(p)), _mm_loadu_ps(p + 8), 1));
        };
        auto const a = load(v + j), b = load(v + j + 4);
        auto const below = _mm256_packus_epi32(_mm256_srli_epi32(a, 23), _mm256_srli_epi32(b, 23));
        auto const upper_bits = [](__m256i m) { return _mm256_srli_epi32(_mm256_slli_epi32(m, 9), 16); };
        auto const cut = _mm256_packus_epi32(upper_bits(a), upper_bits(b));
        auto const draws = _mm256_loadu_si256(reinterpret_cast<__m256i const*>(windows + j));
        // -1 where it stays: where cut <= draws, or there is no larger power.
        auto const stays = _mm256_or_si256(_mm256_cmpeq_epi16(_mm256_subs_epu16(cut, draws), none),
                                           _mm256_cmpgt_epi16(_mm256_and_si256(below, exponents), last_but_one));
        equal = _mm256_or_si256(equal, _mm256_cmpeq_epi16(cut, draws));
        auto const level = _mm256_add_epi16(_mm256_add_epi16(below, one), stays);
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(out + j), level);
    }
    return all_bits_if(_mm256_testz_si256(equal, equal) == 0);
}

#endif

}  // namespace laconic::detail
