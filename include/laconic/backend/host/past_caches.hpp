// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "laconic/core/contract.hpp"

#if !defined(LACONIC_SCALAR) && defined(__SSE2__)
#    if defined(__AVX__)
#        include <immintrin.h>
#    else
#        include <emmintrin.h>  // a fifth of a second less of a user's compile time
#    endif
#    define LACONIC_PAST_CACHES
#endif

/// Vectors that are longer than what caches keep, written past them: their memory is not read first, and nothing else
/// is pushed out.
namespace laconic::detail {

/// From how many bytes on that pays: whoever reads them next has to fetch them from memory anyway.
inline constexpr std::size_t bytes_past_caches = std::size_t{1} << 24;

/// to <- from, of one length. Other threads may be told of it after order_past_caches(). For pieces of some hundred
/// bytes and more: the lines of memory at both ends are written as usual.
template <class A>
void copy_past_caches(std::span<std::byte const> from, std::span<std::byte> to) {
    LACONIC_EXPECTS(from.size() == to.size());
    std::size_t i = 0;
#if defined(LACONIC_PAST_CACHES)
    constexpr std::size_t line = 64;
    std::size_t const before = (line - reinterpret_cast<std::uintptr_t>(to.data()) % line) % line;
    i = std::min(before, from.size());
    if (i > 0) std::memcpy(to.data(), from.data(), i);
    for (; i + line <= from.size(); i += line) {
        auto const* const p = from.data() + i;
        auto* const q = to.data() + i;
#    if defined(__AVX512F__)
        _mm512_stream_si512(reinterpret_cast<__m512i*>(q), _mm512_loadu_si512(p));
#    elif defined(__AVX__)
        for (std::size_t j = 0; j < line; j += 32)
            _mm256_stream_si256(reinterpret_cast<__m256i*>(q + j),
                                _mm256_loadu_si256(reinterpret_cast<__m256i const*>(p + j)));
#    else
        for (std::size_t j = 0; j < line; j += 16)
            _mm_stream_si128(reinterpret_cast<__m128i*>(q + j),
                             _mm_loadu_si128(reinterpret_cast<__m128i const*>(p + j)));
#    endif
    }
#endif
    if (i < from.size()) std::memcpy(to.data() + i, from.data() + i, from.size() - i);
}

/// What was copied comes before all that this thread writes from now on.
template <class A>
void order_past_caches() {
#if defined(LACONIC_PAST_CACHES)
    _mm_sfence();
#endif
}

}  // namespace laconic::detail

#undef LACONIC_PAST_CACHES
