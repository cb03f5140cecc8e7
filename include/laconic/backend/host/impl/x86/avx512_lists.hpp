// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "laconic/backend/host/impl/x86/avx512f.hpp"
#include "laconic/core/term.hpp"
#include "laconic/core/view.hpp"

/// Lists of the chosen of 64 numbers: registers that are compressed by masks, one behind the other.
namespace laconic::detail {

// What write_chosen does.
template <class A, class V>
std::size_t compress_chosen(std::uint64_t bits, V const* from, V* out) {
    constexpr std::size_t width = 64 / sizeof(V);
    for (std::size_t j = 0; j < 64; j += width) {
        auto* const to = out + std::popcount(bits & ((std::uint64_t{1} << j) - 1));
        auto const all = _mm512_loadu_si512(from + j);
        if constexpr (sizeof(V) == 4)
            _mm512_storeu_si512(to, _mm512_maskz_compress_epi32(static_cast<__mmask16>(bits >> j), all));
        else
            _mm512_storeu_si512(to, _mm512_maskz_compress_epi64(static_cast<__mmask8>(bits >> j), all));
    }
    return static_cast<std::size_t>(std::popcount(bits));
}

// What write_positions does.
template <class A>
std::size_t compress_positions(std::uint64_t bits, std::size_t first, coordinate* out) {
    auto all = _mm512_add_epi32(_mm512_set1_epi32(static_cast<int>(first)),
                                _mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0));
    for (std::size_t j = 0; j < 64; j += 16) {
        auto* const to = out + std::popcount(bits & ((std::uint64_t{1} << j) - 1));
        _mm512_storeu_si512(to, _mm512_maskz_compress_epi32(static_cast<__mmask16>(bits >> j), all));
        all = _mm512_add_epi32(all, _mm512_set1_epi32(16));
    }
    return static_cast<std::size_t>(std::popcount(bits));
}

// Which numbers of the register at p are above the bound.
template <class A>
__mmask16 mask_above(float const* p, float bound) {
    return _mm512_cmp_ps_mask(_mm512_abs_ps(_mm512_loadu_ps(p)), _mm512_set1_ps(bound), _CMP_NLE_UQ);
}
template <class A>
__mmask8 mask_above(double const* p, double bound) {
    return _mm512_cmp_pd_mask(_mm512_abs_pd(_mm512_loadu_pd(p)), _mm512_set1_pd(bound), _CMP_NLE_UQ);
}

// Writes those of the register's numbers that the mask marks, and their places, one after another. What is behind them
// is written over: the rest of a register's length, or of half of that where not `all`, which takes far less time.
template <class A, bool all>
void write_masked(float const* p, __mmask16 mask, __m512i places, float* values, coordinate* at) {
    auto const v = _mm512_maskz_compress_ps(mask, _mm512_loadu_ps(p));
    auto const i = _mm512_maskz_compress_epi32(mask, places);
    if constexpr (all) {
        _mm512_storeu_ps(values, v);
        _mm512_storeu_si512(at, i);
    } else {
        _mm256_storeu_ps(values, _mm512_castps512_ps256(v));
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(at), _mm512_castsi512_si256(i));
    }
}
template <class A, bool all>
void write_masked(double const* p, __mmask8 mask, __m512i places, double* values, coordinate* at) {
    auto const v = _mm512_maskz_compress_pd(mask, _mm512_loadu_pd(p));
    auto const i = _mm256_maskz_compress_epi32(mask, _mm512_castsi512_si256(places));
    if constexpr (all) {
        _mm512_storeu_pd(values, v);
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(at), i);
    } else {
        _mm256_storeu_pd(values, _mm512_castpd512_pd256(v));
        _mm_storeu_si128(reinterpret_cast<__m128i*>(at), _mm256_castsi256_si128(i));
    }
}

// Writes p[j] and first + j for each |p_j| > bound of 64, ascending, and returns how many these are; a NaN is above.
// A register at a time, whose mask leaves for nothing but to be counted: for words of which more than four are above.
template <class A, Scalar T>
std::size_t write_many_above(T const* p, T bound, std::size_t first, T* values, coordinate* at) {
    // A pack expansion, so that every compiler keeps the masks in registers.
    return [&]<std::size_t... R>(std::index_sequence<R...>) {
        constexpr std::size_t width = 64 / sizeof(T);
        std::array const above{mask_above<A>(p + R * width, bound)...};
        std::array const counts{static_cast<std::size_t>(std::popcount(above[R]))...};
        auto const places = _mm512_add_epi32(_mm512_set1_epi32(static_cast<int>(first)),
                                             _mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0));
        std::size_t n = 0;
        auto const write = [&]<bool all>(std::bool_constant<all>) {
            ((write_masked<A, all>(p + R * width, above[R], _mm512_add_epi32(places, _mm512_set1_epi32(R * width)),
                                   values + n, at + n),
              n += counts[R]),
             ...);
        };
        bool const half_full = (((counts[R] + width / 2 - 1) | ...) & width) == 0;  // none more than that
        half_full ? write(std::false_type{}) : write(std::true_type{});
        return n;
    }
    (std::make_index_sequence<sizeof(T)>{});
}

}  // namespace laconic::detail
