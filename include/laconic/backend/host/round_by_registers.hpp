// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "laconic/backend/host/round_at_random.hpp"
#include "laconic/core/view.hpp"

#if defined(__AVX2__) && !defined(LACONIC_SCALAR)
#    include <immintrin.h>
#endif

/// The inner loops of round.hpp for floats, in the instructions of AVX2 and AVX-512: compilers make at least twice as
/// many of the plain loops. Each rounds rounded_together values, and tells by bits which of them their windows leave
/// undecided, as round_at_random wants to know it. All are inline, so that what a bucket has in common is made once.
namespace laconic::detail {

/// x times per_cut in place of x / step x 2^16, as a product takes a sixth of a quotient's time. Where |x| is at most
/// levels x step, for up to 255 levels, the product plus `ahead`, however it is rounded, is less than 2.5 from the
/// quotient plus `ahead`: cut to a whole number, it is 1 to `furthest` above the quotient rounded down.
template <Scalar T>
struct near_quotient {
    static constexpr T ahead = T(3.5);
    static constexpr int furthest = 7;  ///< All lower bits, so that what is beyond it has a higher one.

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

// The third byte of each.
inline __m256i third_bytes_of(__m512i a, __m512i b) {
#    if defined(__AVX512VBMI__)
    alignas(64) static constexpr auto places = [] {
        std::array<std::uint8_t, 64> at{};
        for (std::size_t j = 0; j < 32; ++j) at[j] = static_cast<std::uint8_t>(4 * j + 2);
        return at;
    }();
    return _mm512_castsi512_si256(_mm512_permutex2var_epi8(a, _mm512_load_si512(places.data()), b));
#    else
    return _mm512_cvtepi16_epi8(halves_of(a, b, 1));
#    endif
}

// What the loops of round_to_levels do, and of round_to_range, whose codes have no sign, but for the quotient: what is
// on the grid, in steps of 2^-16, and the window make a sum, whose upper half is the code. The sum is 1 to `furthest`
// too large: so a lower half of no more than that has wrongly carried, or may have, or was ~0, where the rest of the
// chance decides. That is so, too, where the highest level would be left.
template <class A, class Code>
[[gnu::always_inline]] inline std::uint64_t round_to_grid(float const* v, float least, int most, near_quotient<float> q,
                                                          std::uint16_t const* windows, Code* out) {
    constexpr bool is_range = std::is_unsigned_v<Code>;
    auto const scale = _mm512_set1_ps(q.per_cut), from = _mm512_set1_ps(least), ahead = _mm512_set1_ps(q.ahead);
    auto const end = _mm512_set1_ps(static_cast<float>(most << 16 | q.furthest));
    auto const far = _mm512_set1_epi32(0xffff & ~q.furthest);
    auto const sum_at = [&](std::size_t j) __attribute__((always_inline)) {
        auto const x = _mm512_loadu_ps(v + j);
        auto product = _mm512_fmadd_ps(is_range ? _mm512_sub_ps(x, from) : x, scale, ahead);
        if constexpr (is_range) product = _mm512_min_ps(product, end);  // a range may end a little above the grid
        auto const window = _mm256_loadu_si256(reinterpret_cast<__m256i const*>(windows + j));
        return _mm512_add_epi32(_mm512_cvttps_epi32(product), _mm512_cvtepu16_epi32(window));
    };
    auto nearest = _mm512_set1_epi32(-1);  // in its lower halves
    for (std::size_t j = 0; j < rounded_together; j += 32) {
        auto const a = sum_at(j), b = sum_at(j + 16);
        nearest = _mm512_min_epu16(nearest, _mm512_min_epu16(a, b));
        if constexpr (sizeof(Code) == 2)
            _mm512_storeu_si512(out + j, halves_of(a, b, 1));
        else
            _mm256_storeu_si256(reinterpret_cast<__m256i*>(out + j), third_bytes_of(a, b));
    }
    std::uint64_t undecided = 0;
    if (_mm512_testn_epi32_mask(nearest, far) != 0)  // of 128 times about once
        for (std::size_t j = 0; j < rounded_together; j += 16)
            undecided |= std::uint64_t{_mm512_testn_epi32_mask(sum_at(j), far)} << j;
    return undecided;
}

// What the loops of round_to_powers do.
template <class A>
[[gnu::always_inline]] inline std::uint64_t round_to_powers_avx512(float const* v, std::uint16_t const* windows,
                                                                   std::uint16_t* out) {
    auto const exponents = _mm512_set1_epi16(0xff), last = _mm512_set1_epi16(254), one = _mm512_set1_epi16(1);
    auto const all_ones = _mm512_set1_epi16(-1);
    std::array<__mmask64, 2> open;
    for (std::size_t j = 0; j < rounded_together; j += 32) {
        // So that exponents are upper halves, and the first 16 bits of what is cut off lower ones.
        auto const load = [](float const* p) { return _mm512_srli_epi32(_mm512_loadu_si512(p), 7); };
        auto const a = load(v + j), b = load(v + j + 16);
        auto const cut = halves_of(a, b, 0), below = halves_of(a, b, 1);
        auto const draws = _mm512_loadu_si512(windows + j);
        auto const larger = _mm512_cmplt_epu16_mask(_mm512_and_si512(below, exponents), last);  // there is one
        auto const sum = _mm512_add_epi16(cut, draws);
        auto const up = _mm512_mask_cmplt_epu16_mask(larger, sum, draws);
        open[j / 32] = _mm512_cmpeq_epu16_mask(sum, all_ones);
        _mm512_storeu_si512(out + j, _mm512_mask_add_epi16(below, up, below, one));
    }
    return _mm512_kunpackd(open[1], open[0]);
}

#endif

#if defined(__AVX2__) && !defined(LACONIC_SCALAR)

#    if !defined(__AVX512BW__)

// As above, in half as many numbers at a time.
template <class A, class Code>
[[gnu::always_inline]] inline std::uint64_t round_to_grid(float const* v, float least, int most, near_quotient<float> q,
                                                          std::uint16_t const* windows, Code* out) {
    constexpr bool is_range = std::is_unsigned_v<Code>;
    auto const scale = _mm256_set1_ps(q.per_cut), from = _mm256_set1_ps(least), ahead = _mm256_set1_ps(q.ahead);
    auto const end = _mm256_set1_ps(static_cast<float>(most << 16 | q.furthest));
    auto const far = _mm256_set1_epi32(0xffff & ~q.furthest), none = _mm256_setzero_si256();
    // Eight from two places, four of each, so that narrowing leaves all in order.
    auto const on_grid_at = [&](std::size_t j) {
        auto x = _mm256_insertf128_ps(_mm256_castps128_ps256(_mm_loadu_ps(v + j)), _mm_loadu_ps(v + j + 8), 1);
        if constexpr (is_range) x = _mm256_sub_ps(x, from);
#        if defined(__FMA__)
        auto product = _mm256_fmadd_ps(x, scale, ahead);
#        else
        auto product = _mm256_add_ps(_mm256_mul_ps(x, scale), ahead);
#        endif
        if constexpr (is_range) product = _mm256_min_ps(product, end);
        return _mm256_cvttps_epi32(product);
    };
    auto const sums_at = [&](std::size_t j) {
        auto const window = _mm256_loadu_si256(reinterpret_cast<__m256i const*>(windows + j));
        return std::pair(_mm256_add_epi32(on_grid_at(j), _mm256_unpacklo_epi16(window, none)),
                         _mm256_add_epi32(on_grid_at(j + 4), _mm256_unpackhi_epi16(window, none)));
    };
    auto nearest = _mm256_set1_epi32(-1);  // in its lower halves
    for (std::size_t j = 0; j < rounded_together; j += 16) {
        auto const [a, b] = sums_at(j);
        nearest = _mm256_min_epu16(nearest, _mm256_min_epu16(a, b));
        auto const code = _mm256_packs_epi32(_mm256_srai_epi32(a, 16), _mm256_srai_epi32(b, 16));
        if constexpr (sizeof(Code) == 2)
            _mm256_storeu_si256(reinterpret_cast<__m256i*>(out + j), code);
        else {
            auto const lower = _mm256_castsi256_si128(code), upper = _mm256_extracti128_si256(code, 1);
            _mm_storeu_si128(reinterpret_cast<__m128i*>(out + j),
                             is_range ? _mm_packus_epi16(lower, upper) : _mm_packs_epi16(lower, upper));
        }
    }
    auto const near = [&](__m256i sum) {
        auto const is = _mm256_cmpeq_epi32(_mm256_and_si256(sum, far), none);
        return static_cast<std::uint64_t>(_mm256_movemask_ps(_mm256_castsi256_ps(is)));
    };
    std::uint64_t undecided = 0;
    if (near(nearest) != 0)  // of 128 times about once
        for (std::size_t j = 0; j < rounded_together; j += 16) {
            auto const [a, b] = sums_at(j);
            auto const first = near(a), second = near(b);
            undecided |= ((first & 15) | (second & 15) << 4 | (first >> 4) << 8 | (second >> 4) << 12) << j;
        }
    return undecided;
}

#    endif

// What the loops of round_to_powers do.
template <class A>
[[gnu::always_inline]] inline std::uint64_t round_to_powers_avx2(float const* v, std::uint16_t const* windows,
                                                                 std::uint16_t* out) {
    auto const exponents = _mm256_set1_epi16(0xff), last_but_one = _mm256_set1_epi16(253), one = _mm256_set1_epi16(1);
    auto const all_ones = _mm256_set1_epi16(-1);
    auto open = _mm256_setzero_si256();
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
        // -1 where it stays: where nothing is carried, or there is no larger power.
        auto const sum = _mm256_add_epi16(cut, draws);
        auto const stays = _mm256_or_si256(_mm256_cmpeq_epi16(_mm256_max_epu16(sum, draws), sum),
                                           _mm256_cmpgt_epi16(_mm256_and_si256(below, exponents), last_but_one));
        open = _mm256_or_si256(open, _mm256_cmpeq_epi16(sum, all_ones));
        auto const level = _mm256_add_epi16(_mm256_add_epi16(below, one), stays);
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(out + j), level);
    }
    return all_bits_if(_mm256_testz_si256(open, open) == 0);
}

#endif

}  // namespace laconic::detail
