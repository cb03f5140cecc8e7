// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "laconic/backend/host/impl/rounded_together.hpp"
#include "laconic/backend/host/impl/x86/avx512f.hpp"

namespace laconic::detail {

// Of 32 numbers of 32 bits, the first 16 in a: their lower or upper halves, in order.
template <class A>
__m512i halves_of(__m512i a, __m512i b, int upper) {
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
template <class A>
__m256i third_bytes_of(instruction_set::avx512, __m512i a, __m512i b) {
    return _mm512_cvtepi16_epi8(halves_of<A>(a, b, 1));
}
template <class A>
__m256i third_bytes_of(instruction_set::avx512_vbmi, __m512i a, __m512i b) {
    alignas(64) static constexpr auto places = [] {
        std::array<std::uint8_t, 64> at{};
        for (std::size_t j = 0; j < 32; ++j) at[j] = static_cast<std::uint8_t>(4 * j + 2);
        return at;
    }();
    return _mm512_castsi512_si256(_mm512_permutex2var_epi8(a, _mm512_load_si512(places.data()), b));
}

// As for AVX2, of twice as many numbers at a time.
template <class A, class Code, std::derived_from<instruction_set::avx512> Set>
[[gnu::always_inline]] inline std::uint64_t round_to_grid(Set set, float const* v, float least, int most,
                                                          near_quotient<float> q, std::uint16_t const* windows,
                                                          Code* out) {
    constexpr bool is_range = std::is_unsigned_v<Code>;
    auto const scale = _mm512_set1_ps(q.per_cut), from = _mm512_set1_ps(least), ahead = _mm512_set1_ps(q.ahead);
    auto const end = _mm512_set1_ps(static_cast<float>(most << 16 | q.furthest));
    auto const beyond = _mm512_set1_epi32(0xffff & ~q.furthest);
    auto const sum_at = [&](std::size_t j) __attribute__((always_inline)) {
        auto const x = _mm512_loadu_ps(v + j);
        auto product = _mm512_fmadd_ps(is_range ? _mm512_sub_ps(x, from) : x, scale, ahead);
        if constexpr (is_range) product = _mm512_min_ps(product, end);  // a range may end a little above the grid
        auto const window = _mm256_loadu_si256(reinterpret_cast<__m256i const*>(windows + j));
        return _mm512_add_epi32(_mm512_cvttps_epi32(product), _mm512_cvtepu16_epi32(window));
    };
    auto nearest = _mm512_set1_epi32(-1);  // in its lower halves
    for (std::size_t j = 0; j < kernels::rounded_together; j += 32) {
        auto const a = sum_at(j), b = sum_at(j + 16);
        nearest = _mm512_min_epu16(nearest, _mm512_min_epu16(a, b));
        if constexpr (sizeof(Code) == 2)
            _mm512_storeu_si512(out + j, halves_of<A>(a, b, 1));
        else
            _mm256_storeu_si256(reinterpret_cast<__m256i*>(out + j), third_bytes_of<A>(set, a, b));
    }
    std::uint64_t undecided = 0;
    if (_mm512_testn_epi32_mask(nearest, beyond) != 0)  // of 128 times about once
        for (std::size_t j = 0; j < kernels::rounded_together; j += 16)
            undecided |= std::uint64_t{_mm512_testn_epi32_mask(sum_at(j), beyond)} << j;
    return undecided;
}

// What the loops of round_to_powers do.
template <class A>
[[gnu::always_inline]] inline std::uint64_t round_to_powers_together(instruction_set::avx512, float const* v,
                                                                     std::uint16_t const* windows, std::uint16_t* out) {
    auto const exponents = _mm512_set1_epi16(0xff), last = _mm512_set1_epi16(254), one = _mm512_set1_epi16(1);
    auto const all_ones = _mm512_set1_epi16(-1);
    std::array<__mmask64, 2> open;
    for (std::size_t j = 0; j < kernels::rounded_together; j += 32) {
        // So that exponents are upper halves, and the first 16 bits of what is cut off lower ones.
        auto const load = [](float const* p) { return _mm512_srli_epi32(_mm512_loadu_si512(p), 7); };
        auto const a = load(v + j), b = load(v + j + 16);
        auto const cut = halves_of<A>(a, b, 0), below = halves_of<A>(a, b, 1);
        auto const draws = _mm512_loadu_si512(windows + j);
        auto const larger = _mm512_cmplt_epu16_mask(_mm512_and_si512(below, exponents), last);  // there is one
        auto const sum = _mm512_add_epi16(cut, draws);
        auto const up = _mm512_mask_cmplt_epu16_mask(larger, sum, draws);
        open[j / 32] = _mm512_cmpeq_epu16_mask(sum, all_ones);
        _mm512_storeu_si512(out + j, _mm512_mask_add_epi16(below, up, below, one));
    }
    return _mm512_kunpackd(open[1], open[0]);
}

}  // namespace laconic::detail
