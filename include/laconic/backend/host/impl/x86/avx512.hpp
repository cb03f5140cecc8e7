// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <utility>

#include "laconic/backend/host/impl/x86/avx512f.hpp"
#include "laconic/core/term.hpp"
#include "laconic/core/view.hpp"

/// Forms for AVX-512 with its instructions for bytes and short registers: lists of the chosen of 64 numbers, by registers
/// that are compressed by masks, one behind the other; sums of lists; rounding.
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
