// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "laconic/backend/host/impl/rounded_together.hpp"
#include "laconic/backend/host/impl/x86/avx.hpp"
#include "laconic/backend/host/impl/x86/avx2_words.hpp"

namespace laconic::detail {

template <class A>
struct avx2_lanes {
    __m256i value;
    static constexpr std::size_t width = 4, together = 3;

    static avx2_lanes all(std::uint64_t v) { return {_mm256_set1_epi64x(static_cast<long long>(v))}; }
    static avx2_lanes ascending() { return {_mm256_set_epi64x(3, 1, 2, 0)}; }
    friend avx2_lanes operator+(avx2_lanes a, avx2_lanes b) { return {_mm256_add_epi64(a.value, b.value)}; }
    friend avx2_lanes operator^(avx2_lanes a, avx2_lanes b) { return {_mm256_xor_si256(a.value, b.value)}; }
    friend avx2_lanes odd_of_three(avx2_lanes a, avx2_lanes b, avx2_lanes c) { return a ^ (b ^ c); }
    friend avx2_lanes product(avx2_lanes a, avx2_lanes b) { return {_mm256_mul_epu32(a.value, b.value)}; }
    friend avx2_lanes upper(avx2_lanes a) { return {_mm256_srli_epi64(a.value, 32)}; }
    friend std::array<avx2_lanes, 2> in_blocks(std::array<avx2_lanes, 4> const& c) {
        auto const lower_halves = [](__m256i a, __m256i b) {
            return _mm256_shuffle_ps(_mm256_castsi256_ps(a), _mm256_castsi256_ps(b), 0x88);
        };
        auto const a = lower_halves(c[0].value, c[1].value), b = lower_halves(c[2].value, c[3].value);
        return {avx2_lanes{_mm256_castps_si256(_mm256_shuffle_ps(a, b, 0x88))},
                avx2_lanes{_mm256_castps_si256(_mm256_shuffle_ps(a, b, 0xdd))}};
    }
    friend avx2_lanes words_turned(avx2_lanes a) {
        return {_mm256_or_si256(_mm256_srli_epi32(a.value, 8), _mm256_slli_epi32(a.value, 24))};
    }
    void store(std::byte* to) const { _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), value); }
};
template <class A>
avx2_lanes<A> philox_lanes_of(instruction_set::avx2);

// Rounding floats: compilers make at least twice as many instructions of the plain loops. Each rounds rounded_together
// values, and marks by bits which of them their windows leave undecided, as round_at_random wants to know it. All are
// inline, so that what a bucket has in common is made once.

// Eight from two places, four of each, so that narrowing leaves all in order.
inline __m256 eight_apart(float const* v) {
    return _mm256_insertf128_ps(_mm256_castps128_ps256(_mm_loadu_ps(v)), _mm_loadu_ps(v + 8), 1);
}

// What the loops of round_to_levels do, and of round_to_range, whose codes have no sign, except for the quotient: what
// is on the grid, in steps of 2^-16, and the window make a sum, whose upper half is the code. The sum is 1 to
// `furthest` too large: so a lower half of no more than that has wrongly carried, or may have, or was ~0, where the
// rest of the chance decides. That is so, too, where the highest level would be left.
template <class A, class Code>
[[gnu::always_inline]] inline std::uint64_t round_to_grid(instruction_set::avx2, float const* v, float least, int most,
                                                          near_quotient<float> q, std::uint16_t const* windows,
                                                          Code* out) {
    constexpr bool is_range = std::is_unsigned_v<Code>;
    auto const scale = _mm256_set1_ps(q.per_cut), from = _mm256_set1_ps(least), ahead = _mm256_set1_ps(q.ahead);
    auto const end = _mm256_set1_ps(static_cast<float>(most << 16 | q.furthest));
    auto const beyond = _mm256_set1_epi32(0xffff & ~q.furthest), none = _mm256_setzero_si256();
    auto const on_grid_at = [&](std::size_t j) {
        auto x = eight_apart(v + j);
        if constexpr (is_range) x = _mm256_sub_ps(x, from);
        auto product = x * scale + ahead;  // rounded once or twice: either will do
        if constexpr (is_range) product = _mm256_min_ps(product, end);
        return _mm256_cvttps_epi32(product);
    };
    auto const sums_at = [&](std::size_t j) {
        auto const window = _mm256_loadu_si256(reinterpret_cast<__m256i const*>(windows + j));
        return std::pair(_mm256_add_epi32(on_grid_at(j), _mm256_unpacklo_epi16(window, none)),
                         _mm256_add_epi32(on_grid_at(j + 4), _mm256_unpackhi_epi16(window, none)));
    };
    auto nearest = _mm256_set1_epi32(-1);  // in its lower halves
    for (std::size_t j = 0; j < kernels::rounded_together; j += 16) {
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
    auto const is_within = [&](__m256i sum) {
        auto const is = _mm256_cmpeq_epi32(_mm256_and_si256(sum, beyond), none);
        return static_cast<std::uint64_t>(_mm256_movemask_ps(_mm256_castsi256_ps(is)));
    };
    std::uint64_t undecided = 0;
    if (is_within(nearest) != 0)  // of 128 times about once
        for (std::size_t j = 0; j < kernels::rounded_together; j += 16) {
            auto const [a, b] = sums_at(j);
            auto const first = is_within(a), second = is_within(b);
            undecided |= ((first & 15) | (second & 15) << 4 | (first >> 4) << 8 | (second >> 4) << 12) << j;
        }
    return undecided;
}

// What round_to_16_bits does. Each number is brought within the format's range first, so that none is rounded beyond
// it.
template <class A>
[[gnu::always_inline]] inline bool round_to_16_bits(instruction_set::avx2, float const* v, kernels::short_layout f,
                                                    float largest, std::uint16_t* out) {
    auto const top = _mm256_set1_ps(largest), bottom = _mm256_set1_ps(-largest);
    auto doubled = _mm256_setzero_si256();  // the largest magnitude's bits, without a sign, times 2
    auto const within = [&](__m256 x) {
        doubled = _mm256_max_epu32(doubled, _mm256_slli_epi32(_mm256_castps_si256(x), 1));
        return _mm256_min_ps(_mm256_max_ps(x, bottom), top);
    };
    auto const store = [](std::uint16_t* to, __m256i codes) {
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), codes);
    };
    if (f == kernels::layout_of(kernels::short_format::bfloat)) {
        auto const below_middle = _mm256_set1_epi32(0x7fff), one = _mm256_set1_epi32(1);
        auto const code = [&](__m256 x) {
            auto const b = _mm256_castps_si256(within(x));
            auto const odd = _mm256_and_si256(_mm256_srli_epi32(b, 16), one);
            return _mm256_srli_epi32(_mm256_add_epi32(_mm256_add_epi32(b, below_middle), odd), 16);
        };
        for (std::size_t j = 0; j < kernels::rounded_together; j += 16) {
            auto const a = eight_apart(v + j), b = eight_apart(v + j + 4);
            store(out + j, _mm256_packus_epi32(code(a), code(b)));
        }
    } else {
        for (std::size_t j = 0; j < kernels::rounded_together; j += 16) {
            auto const half = [&](std::size_t at) {
                return _mm256_cvtps_ph(within(_mm256_loadu_ps(v + at)), _MM_FROUND_TO_NEAREST_INT);
            };
            store(out + j, _mm256_inserti128_si256(_mm256_castsi128_si256(half(j)), half(j + 8), 1));
        }
    }
    auto const infinite = _mm256_set1_epi32(static_cast<int>(0xff000000u));
    auto const odd = _mm256_cmpeq_epi32(_mm256_max_epu32(doubled, infinite), doubled);
    return _mm256_testz_si256(odd, odd) != 0;
}

// What the loops of round_to_powers do.
template <class A>
[[gnu::always_inline]] inline std::uint64_t round_to_powers_together(instruction_set::avx2, float const* v,
                                                                     std::uint16_t const* windows, std::uint16_t* out) {
    auto const exponents = _mm256_set1_epi16(0xff), last_but_one = _mm256_set1_epi16(253), one = _mm256_set1_epi16(1);
    auto const all_ones = _mm256_set1_epi16(-1);
    auto open = _mm256_setzero_si256();
    for (std::size_t j = 0; j < kernels::rounded_together; j += 16) {
        auto const a = _mm256_castps_si256(eight_apart(v + j)), b = _mm256_castps_si256(eight_apart(v + j + 4));
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

}  // namespace laconic::detail
