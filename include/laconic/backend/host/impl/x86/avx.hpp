// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <immintrin.h>

#include <cstddef>

#include "laconic/backend/host/impl/x86/sse2.hpp"

namespace laconic::simd::detail {

inline int packed(__m256 v) { return _mm256_movemask_ps(v); }
inline int packed(__m256d v) { return _mm256_movemask_pd(v); }
inline __m256d as_doubles(float const* p, __m256d) { return _mm256_cvtps_pd(_mm_loadu_ps(p)); }

}  // namespace laconic::simd::detail

namespace laconic::detail {

template <class A>
void write_line_past_caches(instruction_set::avx, std::byte const* from, std::byte* to) {
    for (std::size_t j = 0; j < 64; j += 32)
        _mm256_stream_si256(reinterpret_cast<__m256i*>(to + j),
                            _mm256_loadu_si256(reinterpret_cast<__m256i const*>(from + j)));
}

}  // namespace laconic::detail
