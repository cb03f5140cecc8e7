// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <emmintrin.h>  // not immintrin.h: a fifth of a second less of a user's compile time

#include <array>
#include <cstddef>
#include <cstdint>

#include "laconic/backend/host/impl/instruction_sets.hpp"

namespace laconic::simd::detail {

inline int packed(__m128 v) { return _mm_movemask_ps(v); }
inline int packed(__m128d v) { return _mm_movemask_pd(v); }

// As many floats as a register, of the kind of the second argument, has doubles: as doubles.
inline __m128d as_doubles(float const* p, __m128d) {
    return _mm_cvtps_pd(_mm_castsi128_ps(_mm_loadl_epi64(reinterpret_cast<__m128i const*>(p))));
}

}  // namespace laconic::simd::detail

namespace laconic::detail {

// One of the four words of Philox's counters, each in the lower half of a lane of 64 bits, as the instruction wants
// them that multiplies. What stands in the upper halves does not count. `together` vectors are drawn at a time.
template <class A>
struct sse2_lanes {
    __m128i value;
    static constexpr std::size_t width = 2, together = 3;

    static sse2_lanes all(std::uint64_t v) { return {_mm_set1_epi64x(static_cast<long long>(v))}; }
    // 0, 1, .. in the order in which in_blocks makes whole blocks of them, one after another.
    static sse2_lanes ascending() { return {_mm_set_epi64x(1, 0)}; }
    friend sse2_lanes operator+(sse2_lanes a, sse2_lanes b) { return {_mm_add_epi64(a.value, b.value)}; }
    friend sse2_lanes operator^(sse2_lanes a, sse2_lanes b) { return {_mm_xor_si128(a.value, b.value)}; }
    friend sse2_lanes odd_of_three(sse2_lanes a, sse2_lanes b, sse2_lanes c) { return a ^ (b ^ c); }
    friend sse2_lanes product(sse2_lanes a, sse2_lanes b) { return {_mm_mul_epu32(a.value, b.value)}; }
    friend sse2_lanes upper(sse2_lanes a) { return {_mm_srli_epi64(a.value, 32)}; }
    friend std::array<sse2_lanes, 2> in_blocks(std::array<sse2_lanes, 4> const& c) {
        auto const lower_halves = [](__m128i a, __m128i b) {
            return _mm_shuffle_ps(_mm_castsi128_ps(a), _mm_castsi128_ps(b), 0x88);
        };
        auto const a = lower_halves(c[0].value, c[1].value), b = lower_halves(c[2].value, c[3].value);
        return {sse2_lanes{_mm_castps_si128(_mm_shuffle_ps(a, b, 0x88))},
                sse2_lanes{_mm_castps_si128(_mm_shuffle_ps(a, b, 0xdd))}};
    }
    friend sse2_lanes words_turned(sse2_lanes a) {
        return {_mm_or_si128(_mm_srli_epi32(a.value, 8), _mm_slli_epi32(a.value, 24))};
    }
    void store(std::byte* to) const { _mm_storeu_si128(reinterpret_cast<__m128i*>(to), value); }
};
template <class A>
sse2_lanes<A> philox_lanes_of(instruction_set::sse2);

// The 64 bytes at `from` to a line of memory, past the caches.
template <class A>
void write_line_past_caches(instruction_set::sse2, std::byte const* from, std::byte* to) {
    for (std::size_t j = 0; j < 64; j += 16)
        _mm_stream_si128(reinterpret_cast<__m128i*>(to + j),
                         _mm_loadu_si128(reinterpret_cast<__m128i const*>(from + j)));
}
template <class A>
void order_lines_past_caches(instruction_set::sse2) {
    _mm_sfence();
}

}  // namespace laconic::detail
