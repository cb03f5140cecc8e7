// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "laconic/backend/host/impl/x86/avx2.hpp"
#include "laconic/backend/settle.hpp"

namespace laconic::simd {

/// Doubles, half as many as a register has room for.
template <class A>
struct half_pack {
    __m256d value;
    static constexpr std::size_t width = 4;

    static half_pack load(double const* p) { return {_mm256_loadu_pd(p)}; }
    static half_pack all(double v) { return {_mm256_set1_pd(v)}; }
    static half_pack widened(float const* p) { return {_mm256_cvtps_pd(_mm_loadu_ps(p))}; }
    void store(double* p) const { _mm256_storeu_pd(p, value); }

    friend half_pack operator+(half_pack a, half_pack b) { return {a.value + b.value}; }
    friend half_pack operator-(half_pack a, half_pack b) { return {a.value - b.value}; }
    friend half_pack operator*(half_pack a, half_pack b) { return {a.value * b.value}; }
    friend half_pack operator/(half_pack a, half_pack b) { return {a.value / b.value}; }
    half_pack& operator+=(half_pack b) { return *this = *this + b; }
    friend half_pack multiply_add(half_pack a, half_pack b, half_pack c) {
        return {_mm256_fmadd_pd(a.value, b.value, c.value)};
    }
    friend half_pack magnitude(half_pack a) { return {_mm256_andnot_pd(_mm256_set1_pd(-0.0), a.value)}; }
    friend half_pack larger(half_pack a, half_pack b) { return {_mm256_max_pd(a.value, b.value)}; }
    friend half_pack settled(half_pack a) {
        settle(a.value);
        return a;
    }
};

}  // namespace laconic::simd

namespace laconic::detail {

template <class A>
struct avx512f_lanes {
    __m512i value;
    static constexpr std::size_t width = 8, together = 4;

    static avx512f_lanes all(std::uint64_t v) { return {_mm512_set1_epi64(static_cast<long long>(v))}; }
    static avx512f_lanes ascending() { return {_mm512_set_epi64(7, 3, 6, 2, 5, 1, 4, 0)}; }
    friend avx512f_lanes operator+(avx512f_lanes a, avx512f_lanes b) { return {_mm512_add_epi64(a.value, b.value)}; }
    friend avx512f_lanes operator^(avx512f_lanes a, avx512f_lanes b) { return {_mm512_xor_si512(a.value, b.value)}; }
    friend avx512f_lanes odd_of_three(avx512f_lanes a, avx512f_lanes b, avx512f_lanes c) {
        return {_mm512_ternarylogic_epi64(a.value, b.value, c.value, 0x96)};
    }
    friend avx512f_lanes product(avx512f_lanes a, avx512f_lanes b) { return {_mm512_mul_epu32(a.value, b.value)}; }
    friend avx512f_lanes upper(avx512f_lanes a) { return {_mm512_shuffle_epi32(a.value, _MM_PERM_DDBB)}; }
    friend std::array<avx512f_lanes, 2> in_blocks(std::array<avx512f_lanes, 4> const& c) {
        auto const lower_halves = [](__m512i a, __m512i b) {
            return _mm512_shuffle_ps(_mm512_castsi512_ps(a), _mm512_castsi512_ps(b), 0x88);
        };
        auto const a = lower_halves(c[0].value, c[1].value), b = lower_halves(c[2].value, c[3].value);
        return {avx512f_lanes{_mm512_castps_si512(_mm512_shuffle_ps(a, b, 0x88))},
                avx512f_lanes{_mm512_castps_si512(_mm512_shuffle_ps(a, b, 0xdd))}};
    }
    friend avx512f_lanes words_turned(avx512f_lanes a) { return {_mm512_ror_epi32(a.value, 8)}; }
    void store(std::byte* to) const { _mm512_storeu_si512(to, value); }
};
template <class A>
avx512f_lanes<A> philox_lanes_of(instruction_set::avx512f);

template <class A>
void write_line_past_caches(instruction_set::avx512f, std::byte const* from, std::byte* to) {
    _mm512_stream_si512(reinterpret_cast<__m512i*>(to), _mm512_loadu_si512(from));
}

}  // namespace laconic::detail
