// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <utility>

#include "laconic/backend/host/memory.hpp"
#include "laconic/core/contract.hpp"
#include "laconic/core/key.hpp"

#if !defined(LACONIC_SCALAR) && defined(__SSE2__)
#    if defined(__AVX__)
#        include <immintrin.h>
#    else
#        include <emmintrin.h>  // a fifth of a second less of a user's compile time
#    endif
#    define LACONIC_PHILOX_LANES
#endif

/// The random words of a key, many at once.
namespace laconic {

namespace detail {

#if defined(LACONIC_PHILOX_LANES)

// One of the four words of Philox's counters, each in the lower half of a lane of 64 bits, as the instruction wants
// them that multiplies. What stands in the upper halves does not count.
#    if defined(__AVX512F__)
template <class A>
struct philox_lanes {
    __m512i value;
    static constexpr std::size_t width = 8, together = 4;

    static philox_lanes all(std::uint64_t v) { return {_mm512_set1_epi64(static_cast<long long>(v))}; }
    // 0, 1, .. in the order in which in_blocks makes whole blocks of them, one after another.
    static philox_lanes ascending() { return {_mm512_set_epi64(7, 3, 6, 2, 5, 1, 4, 0)}; }
    friend philox_lanes operator+(philox_lanes a, philox_lanes b) { return {_mm512_add_epi64(a.value, b.value)}; }
    friend philox_lanes operator^(philox_lanes a, philox_lanes b) { return {_mm512_xor_si512(a.value, b.value)}; }
    friend philox_lanes odd_of_three(philox_lanes a, philox_lanes b, philox_lanes c) {
        return {_mm512_ternarylogic_epi64(a.value, b.value, c.value, 0x96)};
    }
    friend philox_lanes product(philox_lanes a, philox_lanes b) { return {_mm512_mul_epu32(a.value, b.value)}; }
    friend philox_lanes upper(philox_lanes a) { return {_mm512_shuffle_epi32(a.value, _MM_PERM_DDBB)}; }
    friend std::array<philox_lanes, 2> in_blocks(std::array<philox_lanes, 4> const& c) {
        auto const lower_halves = [](__m512i a, __m512i b) {
            return _mm512_shuffle_ps(_mm512_castsi512_ps(a), _mm512_castsi512_ps(b), 0x88);
        };
        auto const a = lower_halves(c[0].value, c[1].value), b = lower_halves(c[2].value, c[3].value);
        return {philox_lanes{_mm512_castps_si512(_mm512_shuffle_ps(a, b, 0x88))},
                philox_lanes{_mm512_castps_si512(_mm512_shuffle_ps(a, b, 0xdd))}};
    }
    friend philox_lanes words_turned(philox_lanes a) { return {_mm512_ror_epi32(a.value, 8)}; }
    void store(std::byte* to) const { _mm512_storeu_si512(to, value); }
};
#    elif defined(__AVX2__)
template <class A>
struct philox_lanes {
    __m256i value;
    static constexpr std::size_t width = 4, together = 3;

    static philox_lanes all(std::uint64_t v) { return {_mm256_set1_epi64x(static_cast<long long>(v))}; }
    static philox_lanes ascending() { return {_mm256_set_epi64x(3, 1, 2, 0)}; }
    friend philox_lanes operator+(philox_lanes a, philox_lanes b) { return {_mm256_add_epi64(a.value, b.value)}; }
    friend philox_lanes operator^(philox_lanes a, philox_lanes b) { return {_mm256_xor_si256(a.value, b.value)}; }
    friend philox_lanes odd_of_three(philox_lanes a, philox_lanes b, philox_lanes c) { return a ^ (b ^ c); }
    friend philox_lanes product(philox_lanes a, philox_lanes b) { return {_mm256_mul_epu32(a.value, b.value)}; }
    friend philox_lanes upper(philox_lanes a) { return {_mm256_srli_epi64(a.value, 32)}; }
    friend std::array<philox_lanes, 2> in_blocks(std::array<philox_lanes, 4> const& c) {
        auto const lower_halves = [](__m256i a, __m256i b) {
            return _mm256_shuffle_ps(_mm256_castsi256_ps(a), _mm256_castsi256_ps(b), 0x88);
        };
        auto const a = lower_halves(c[0].value, c[1].value), b = lower_halves(c[2].value, c[3].value);
        return {philox_lanes{_mm256_castps_si256(_mm256_shuffle_ps(a, b, 0x88))},
                philox_lanes{_mm256_castps_si256(_mm256_shuffle_ps(a, b, 0xdd))}};
    }
    friend philox_lanes words_turned(philox_lanes a) {
        return {_mm256_or_si256(_mm256_srli_epi32(a.value, 8), _mm256_slli_epi32(a.value, 24))};
    }
    void store(std::byte* to) const { _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), value); }
};
#    else
template <class A>
struct philox_lanes {
    __m128i value;
    static constexpr std::size_t width = 2, together = 3;

    static philox_lanes all(std::uint64_t v) { return {_mm_set1_epi64x(static_cast<long long>(v))}; }
    static philox_lanes ascending() { return {_mm_set_epi64x(1, 0)}; }
    friend philox_lanes operator+(philox_lanes a, philox_lanes b) { return {_mm_add_epi64(a.value, b.value)}; }
    friend philox_lanes operator^(philox_lanes a, philox_lanes b) { return {_mm_xor_si128(a.value, b.value)}; }
    friend philox_lanes odd_of_three(philox_lanes a, philox_lanes b, philox_lanes c) { return a ^ (b ^ c); }
    friend philox_lanes product(philox_lanes a, philox_lanes b) { return {_mm_mul_epu32(a.value, b.value)}; }
    friend philox_lanes upper(philox_lanes a) { return {_mm_srli_epi64(a.value, 32)}; }
    friend std::array<philox_lanes, 2> in_blocks(std::array<philox_lanes, 4> const& c) {
        auto const lower_halves = [](__m128i a, __m128i b) {
            return _mm_shuffle_ps(_mm_castsi128_ps(a), _mm_castsi128_ps(b), 0x88);
        };
        auto const a = lower_halves(c[0].value, c[1].value), b = lower_halves(c[2].value, c[3].value);
        return {philox_lanes{_mm_castps_si128(_mm_shuffle_ps(a, b, 0x88))},
                philox_lanes{_mm_castps_si128(_mm_shuffle_ps(a, b, 0xdd))}};
    }
    friend philox_lanes words_turned(philox_lanes a) {
        return {_mm_or_si128(_mm_srli_epi32(a.value, 8), _mm_slli_epi32(a.value, 24))};
    }
    void store(std::byte* to) const { _mm_storeu_si128(reinterpret_cast<__m128i*>(to), value); }
};
#    endif

// Blocks of the counters (n, n >> 32, a purpose, 0), whose second word all share: that spares nearly all of the first
// round and half of the second.
template <class A, purpose use>
class philox_rounds {
    using lanes = philox_lanes<A>;
    using counters = std::array<lanes, 4>;

  public:
    explicit philox_rounds(std::uint64_t key)
        : key_0_(static_cast<std::uint32_t>(key)), key_1_(static_cast<std::uint32_t>(key >> 32)) {
        for (std::uint32_t r = 0; r < keys_.size(); ++r)
            keys_[r] = {lanes::all(key_0_ + (r + 2) * step_0), lanes::all(key_1_ + (r + 2) * step_1)};
    }
    // put(v, some) for each of 2 sizeof...(V) vectors of whole blocks, the n-th and those after it. They are drawn
    // together, so that some multiply while others wait, and by a pack expansion, so that no compiler keeps the
    // counters in memory.
    template <class Put, std::size_t... V>
    void draw(std::uint64_t n, Put put, std::index_sequence<V...>) const {
        auto const shared =
            std::uint64_t{factor_0} * (static_cast<std::uint32_t>(n >> 32) ^ key_0_ ^ (of_purpose >> 32));
        std::array<counters, sizeof...(V)> c{
            after_two_rounds(lanes::all(n) + (lanes::ascending() + lanes::all(V * lanes::width)), shared)...};
        for (auto const& k : keys_) (one_round(c[V], k), ...);
        (put_both(2 * V, in_blocks(c[V]), put), ...);
    }

  private:
    static constexpr std::uint32_t factor_0 = 0xD2511F53u, factor_1 = 0xCD9E8D57u;
    static constexpr std::uint32_t step_0 = 0x9E3779B9u, step_1 = 0xBB67AE85u;
    static constexpr std::uint64_t of_purpose = std::uint64_t{factor_1} * use.number;

    // shared: the product that the second word goes into.
    counters after_two_rounds(lanes n, std::uint64_t shared) const {
        auto const first = product(n, lanes::all(factor_0));
        auto const second = product(upper(first) ^ lanes::all(key_1_), lanes::all(factor_1));
        return {upper(second) ^ lanes::all(std::uint32_t{key_0_ + step_0} ^ of_purpose), second,
                first ^ lanes::all((shared >> 32) ^ std::uint32_t{key_1_ + step_1}), lanes::all(shared)};
    }
    static void one_round(counters& c, std::array<lanes, 2> const& key) {
        auto const a = product(c[0], lanes::all(factor_0)), b = product(c[2], lanes::all(factor_1));
        c = {odd_of_three(upper(b), c[1], key[0]), b, odd_of_three(upper(a), c[3], key[1]), a};
    }

    template <class Put>
    static void put_both(std::size_t v, std::array<lanes, 2> const& some, Put put) {
        put(v, some[0]);
        put(v + 1, some[1]);
    }

    std::uint32_t key_0_, key_1_;
    std::array<std::array<lanes, 2>, std::size_t{use.rounds} - 2> keys_;
};

#endif

inline constexpr std::size_t bytes_of_block = 16;

// Where blocks are written, in the machine's order of bytes: one after another, ..
struct blocks_as_words {
    std::byte* to;

    void put(std::size_t block, std::array<std::uint32_t, 4> const& words) const {
        std::memcpy(to + block * bytes_of_block, words.data(), bytes_of_block);
    }
    template <class Lanes>
    void put(std::size_t block, Lanes const& some) const {
        some.store(to + block * bytes_of_block);
    }
};

// .. or as windows: four blocks, and then the same with their words turned.
struct blocks_as_windows {
    static constexpr std::size_t turned_at = 4 * bytes_of_block;
    std::byte* to;

    std::byte* place(std::size_t block) const { return to + (block / 4 * 8 + block % 4) * bytes_of_block; }
    void put(std::size_t block, std::array<std::uint32_t, 4> words) const {
        std::memcpy(place(block), words.data(), bytes_of_block);
        for (auto& w : words) w = std::rotr(w, 8);
        std::memcpy(place(block) + turned_at, words.data(), bytes_of_block);
    }
    template <class Lanes>
    void put(std::size_t block, Lanes const& some) const {
        some.store(place(block));
        words_turned(some).store(place(block) + turned_at);
    }
};

// The blocks of one key for one purpose, many at a time.
template <class A, purpose use>
class random_blocks {
  public:
    explicit random_blocks(key from) : from_(from) {}

    /// layout.put(j, from.block(use, first + j)) for j < count, some of them together.
    template <class Layout>
    void draw(std::uint64_t first, std::size_t count, Layout layout) const {
        std::size_t done = 0;
#if defined(LACONIC_PHILOX_LANES)
        auto const draw_by = [&]<std::size_t... V>(std::index_sequence<V...> vectors) {
            constexpr std::size_t width = philox_lanes<A>::width, n = sizeof...(V) * width;
            for (; count - done >= n && static_cast<std::uint32_t>(first + done) <= ~std::uint32_t{0} - n; done += n)
                rounds_.draw(
                    first + done,
                    [layout, done](std::size_t v, auto const& some) { layout.put(done + v * (width / 2), some); },
                    vectors);
        };
        draw_by(std::make_index_sequence<philox_lanes<A>::together>{});
        draw_by(std::make_index_sequence<1>{});
#endif
        for (; done < count; ++done) layout.put(done, from_.block(use, first + done));
    }

  private:
    key from_;
#if defined(LACONIC_PHILOX_LANES)
    philox_rounds<A, use> rounds_{from_.bits};
#endif
};

}  // namespace detail

/// words = from.words(block), from.words(block + 1), ..: as many as there is room for. words.size() is a multiple of 4.
template <class A>
void draw_words(basic_host<A>&, key from, std::uint64_t block, std::span<std::uint32_t> words) {
    LACONIC_EXPECTS(words.size() % 4 == 0);
    detail::random_blocks<A, detail::for_words>(from).draw(
        block, words.size() / 4, detail::blocks_as_words{reinterpret_cast<std::byte*>(words.data())});
}

/// The windows of one key, many at a time.
template <class A>
class window_source {
  public:
    static constexpr std::size_t together = 64;  ///< that share four blocks

    explicit window_source(key from) : blocks_(from) {}

    /// windows_j = from.window(first + j); first is a multiple of `together`.
    void draw(std::uint64_t first, std::span<std::uint16_t> windows) const {
        LACONIC_EXPECTS(first % together == 0);
        std::size_t const whole = windows.size() / together * together;
        draw_groups(first, windows.first(whole));
        if (whole == windows.size()) return;
        std::array<std::uint16_t, together> last;
        draw_groups(first + whole, last);
        std::copy_n(last.begin(), windows.size() - whole, windows.begin() + static_cast<std::ptrdiff_t>(whole));
    }

  private:
    void draw_groups(std::uint64_t first, std::span<std::uint16_t> windows) const {
        blocks_.draw(first / 16, windows.size() / 16,
                     detail::blocks_as_windows{reinterpret_cast<std::byte*>(windows.data())});
        if constexpr (std::endian::native == std::endian::big)
            for (std::size_t j = 0; j < windows.size(); j += 2) std::swap(windows[j], windows[j + 1]);
    }

    detail::random_blocks<A, detail::for_windows> blocks_;
};

}  // namespace laconic

#undef LACONIC_PHILOX_LANES
