// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

#include "laconic/backend/host/impl/x86/avx512f.hpp"
#include "laconic/core/term.hpp"

namespace laconic::detail {

/// How far a sum of two lists has come: i terms of the one and j of the other make its n first.
struct merge_place {
    std::size_t i, j, n;
};

// Goes on with the sum of two lists of terms with ascending coordinates, a with the values x and b with the values y,
// into `at` and `values`: about `most` terms more, or fewer where a list, or the room in `at`, comes to an end. Eight
// terms at a time are sorted among the eight that are left of those before, by a bitonic network (Batcher, AFIPS 1968;
// for merges: Chhugani et al., VLDB 2008): in 64 bits, the coordinate above the value, which for equal coordinates does
// not matter, as a sum of two does not depend on their order.
template <class Set>
merge_place merge_eights(merge_place p, std::size_t most, std::span<coordinate const> a, float const* x,
                         std::span<coordinate const> b, float const* y, std::span<coordinate> at, float* values) {
    constexpr std::size_t width = 8;
    auto const has_room = [&](std::size_t n) { return n + width <= at.size(); };
    if (a.size() - p.i < width || b.size() - p.j < width || !has_room(p.n)) return p;
    auto const load = [](coordinate const* here, float const* v) {
        auto const high = _mm512_cvtepu32_epi64(_mm256_loadu_si256(reinterpret_cast<__m256i const*>(here)));
        auto const low = _mm512_cvtepu32_epi64(_mm256_loadu_si256(reinterpret_cast<__m256i const*>(v)));
        return _mm512_or_si512(_mm512_slli_epi64(high, 32), low);
    };
    auto const coordinates = [](__m512i terms) { return _mm512_cvtepi64_epi32(_mm512_srli_epi64(terms, 32)); };
    // Each of eight and the one so many places away: the lower of both to the lower place.
    auto const order = [](__m512i terms, __m512i others, __mmask8 upper) {
        return _mm512_mask_blend_epi64(upper, _mm512_min_epu64(terms, others), _mm512_max_epu64(terms, others));
    };
    auto const sorted = [&](__m512i t) {
        t = order(t, _mm512_shuffle_i64x2(t, t, 0x4e), 0xf0);
        t = order(t, _mm512_permutex_epi64(t, 0x4e), 0xcc);
        return order(t, _mm512_permutex_epi64(t, 0xb1), 0xaa);
    };
    auto const backwards = _mm512_setr_epi64(7, 6, 5, 4, 3, 2, 1, 0);

    bool const from_a = a[p.i] <= b[p.j];
    auto held = from_a ? load(a.data() + p.i, x + p.i) : load(b.data() + p.j, y + p.j);  // ascending
    p.i += from_a ? width : 0;
    p.j += from_a ? 0 : width;
    auto before = _mm512_set1_epi64(-1);  // what came last; of these the last one is still to be written
    unsigned is_second = 1;               // whether it is not, as its coordinate was that of the one before it
    std::size_t i = p.i, j = p.j, n = p.n;
    auto const end = n + most;
    while (i + width <= a.size() && j + width <= b.size() && n < end && has_room(n)) {
        bool const next_from_a = a[i] <= b[j];
        auto const next = load(next_from_a ? a.data() + i : b.data() + j, next_from_a ? x + i : y + j);
        i += next_from_a ? width : 0;
        j += next_from_a ? 0 : width;
        auto const other = _mm512_permutexvar_epi64(backwards, next);
        auto const low = sorted(_mm512_min_epu64(held, other));
        held = sorted(_mm512_max_epu64(held, other));
        // One place behind, so that each term has the next one beside it.
        auto const now = _mm512_alignr_epi64(low, before, 7);
        before = low;
        auto const here = coordinates(now);
        unsigned const same = _mm256_cmpeq_epi32_mask(here, coordinates(low));
        auto const value = _mm256_castsi256_ps(_mm512_cvtepi64_epi32(now));
        auto const sum = _mm256_mask_add_ps(value, static_cast<__mmask8>(same), value,
                                            _mm256_castsi256_ps(_mm512_cvtepi64_epi32(low)));
        unsigned const firsts = ~(same << 1 | is_second) & 0xff;
        is_second = same >> 7;
        auto const mask = static_cast<__mmask8>(firsts);
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(at.data() + n), _mm256_maskz_compress_epi32(mask, here));
        _mm256_storeu_ps(values + n, _mm256_maskz_compress_ps(mask, sum));
        n += static_cast<std::size_t>(std::popcount(firsts));
    }
    if (n == p.n) return {p.i - (from_a ? width : 0), p.j - (from_a ? 0 : width), n};
    // What is held, and what is still to be written, are terms again. Where the last one is the second of two, both
    // are written.
    auto const last = static_cast<coordinate>(
        static_cast<std::uint64_t>(_mm_cvtsi128_si64(_mm512_castsi512_si128(_mm512_alignr_epi64(before, before, 7)))) >>
        32);
    while (i > 0 && (a[i - 1] > last || (a[i - 1] == last && is_second == 0))) --i;
    while (j > 0 && (b[j - 1] > last || (b[j - 1] == last && is_second == 0))) --j;
    return {i, j, n};
}

}  // namespace laconic::detail
