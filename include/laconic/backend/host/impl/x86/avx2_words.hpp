// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "laconic/backend/code_words.hpp"
#include "laconic/backend/host/impl/instruction_sets.hpp"
#include "laconic/backend/host/impl/x86/avx.hpp"

// Packing codes as words of some bits, and unpacking these.
namespace laconic::detail {

// What unpack_codes does, of n words, a multiple of 32, of up to 8 bits in codes of 8 and up to 9 in codes of 16,
// behind which 16 bytes more can be read. Each word lies in two bytes; these become its lane, from which its bits are
// shifted.
template <class A, class Code>
bool unpack_words(instruction_set::avx2, std::byte const* from, std::size_t n, kernels::code_words f, Code* to) {
    std::array<std::uint8_t, 16> bytes;
    std::array<std::uint16_t, 8> factors;
    for (unsigned j = 0; j < 8; ++j) {
        unsigned const bit = j * f.width;
        bytes[2 * j] = static_cast<std::uint8_t>(bit / 8);
        bytes[2 * j + 1] = static_cast<std::uint8_t>(bit / 8 + 1);
        factors[j] = static_cast<std::uint16_t>(1u << (7 - bit % 8));
    }
    auto const load = [](void const* p) { return _mm_loadu_si128(static_cast<__m128i const*>(p)); };
    auto const places = _mm256_broadcastsi128_si256(load(bytes.data()));
    auto const up = _mm256_broadcastsi128_si256(load(factors.data()));
    auto const low = _mm256_set1_epi16(static_cast<short>((1u << f.width) - 1));
    auto const words = [&](std::byte const* p) {
        auto const two = _mm256_inserti128_si256(_mm256_castsi128_si256(load(p)), load(p + f.width), 1);
        auto const shifted = _mm256_mullo_epi16(_mm256_shuffle_epi8(two, places), up);
        return _mm256_and_si256(_mm256_srli_epi16(shifted, 7), low);
    };
    auto beyond = _mm256_setzero_si256();
    auto const each = [](unsigned v) {
        return sizeof(Code) == 1 ? _mm256_set1_epi8(static_cast<char>(v)) : _mm256_set1_epi16(static_cast<short>(v));
    };
    auto const mask = each(f.mask), most = each(f.most), offset = each(static_cast<unsigned>(f.offset));
    for (std::size_t i = 0; i < n; i += 32 / sizeof(Code), from += 4 / sizeof(Code) * f.width) {
        __m256i all, codes;
        if constexpr (sizeof(Code) == 1) {
            all = _mm256_permute4x64_epi64(_mm256_packus_epi16(words(from), words(from + 2 * f.width)), 0xd8);
            beyond = _mm256_or_si256(beyond, _mm256_subs_epu8(_mm256_and_si256(all, mask), most));
            codes = _mm256_sub_epi8(all, offset);
        } else {
            all = words(from);
            beyond = _mm256_or_si256(beyond, _mm256_subs_epu16(_mm256_and_si256(all, mask), most));
            codes = _mm256_sub_epi16(all, offset);
        }
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(to + i), codes);
    }
    return _mm256_testz_si256(beyond, beyond) != 0;
}

// For words of w bits: where the bytes come from that make them lie side by side, of a register that has eight of them
// from the start of each 64 bits on.
inline constexpr auto places_of_eights = [] {
    std::array<std::array<std::uint8_t, 64>, 8> from{};
    for (unsigned w = 1; w < from.size(); ++w)
        for (unsigned j = 0; j < 8 * w; ++j) from[w][j] = static_cast<std::uint8_t>(j / w * 8 + j % w);
    return from;
}();
// The same with four words there, which in each second 64 bits begin where the first ones end within a byte: of the
// first ones, and of the second ones, and 0x80 where there are none.
inline constexpr auto places_of_fours = [] {
    std::array<std::array<std::array<std::uint8_t, 64>, 2>, 15> from{};
    for (unsigned w = 1; w < from.size(); ++w)
        for (unsigned j = 0; j < 64; ++j) {
            unsigned const in = j % w, first = j / w * 16 + in, second = first + 8 - w / 2;
            from[w][0][j] = static_cast<std::uint8_t>(in < (w + 1) / 2 && j < 4 * w ? first : 0x80);
            from[w][1][j] = static_cast<std::uint8_t>(in >= w / 2 && j < 4 * w ? second : 0x80);
        }
    return from;
}();

// What pack_codes does, of n codes, a multiple of 64, of words of up to 8 bits in codes of 8 and up to 14, or 16, in
// codes of 16, behind which 64 bytes more can be written. Neighbours are joined by products and sums, to words of four
// or eight codes that are moved together.
template <class A, class Code>
bool pack_words(instruction_set::avx2, Code const* codes, std::size_t n, kernels::code_words f, std::byte* to) {
    unsigned const w = f.width;
    auto const each = [](unsigned v) {
        return sizeof(Code) == 1 ? _mm256_set1_epi8(static_cast<char>(v)) : _mm256_set1_epi16(static_cast<short>(v));
    };
    auto const mask = each(f.mask), offset = each(static_cast<unsigned>(f.offset));
    auto largest = _mm256_setzero_si256();
    auto const words_at = [&](Code const* p) {
        auto const some = _mm256_loadu_si256(reinterpret_cast<__m256i const*>(p));
        auto const all = sizeof(Code) == 1 ? _mm256_add_epi8(some, offset) : _mm256_add_epi16(some, offset);
        auto const masked = _mm256_and_si256(all, mask);
        largest = sizeof(Code) == 1 ? _mm256_max_epu8(largest, masked) : _mm256_max_epu16(largest, masked);
        return all;
    };
    auto const bytes_at = [&](Code const* p) {  // the words of 32 codes, a byte each
        if constexpr (sizeof(Code) == 1)
            return words_at(p);
        else
            return _mm256_permute4x64_epi64(_mm256_packus_epi16(words_at(p), words_at(p + 16)), 0xd8);
    };
    auto const store = [](std::byte* p, __m256i v) { _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), v); };
    // Both halves, the second one `apart` bytes behind the first.
    auto const store_halves = [](std::byte* p, __m256i v, unsigned apart) {
        _mm_storeu_si128(reinterpret_cast<__m128i*>(p), _mm256_castsi256_si128(v));
        _mm_storeu_si128(reinterpret_cast<__m128i*>(p + apart), _mm256_extracti128_si256(v, 1));
    };
    auto const pairs = _mm256_set1_epi16(static_cast<short>(1 | 1u << w << 8));  // of bytes: 1 and 2^w
    auto const joined = [&](Code const* p) { return _mm256_maddubs_epi16(pairs, bytes_at(p)); };
    if (w == 8) {
        for (std::size_t i = 0; i < n; i += 32) store(to + i, bytes_at(codes + i));
    } else if (w == 4) {
        for (std::size_t i = 0; i < n; i += 64, to += 32) {
            auto const two = _mm256_packus_epi16(joined(codes + i), joined(codes + i + 32));
            store(to, _mm256_permute4x64_epi64(two, 0xd8));
        }
    } else if (w < 8) {
        auto const fours = _mm256_set1_epi32(static_cast<int>(1 | 1u << 2 * w << 16));
        auto const up = _mm256_set1_epi64x(32 - 4 * w);  // the lower one of two
        auto const down = _mm_cvtsi32_si128(static_cast<int>(32 - 4 * w));
        auto const places =
            _mm256_broadcastsi128_si256(_mm_loadu_si128(reinterpret_cast<__m128i const*>(places_of_eights[w].data())));
        for (std::size_t i = 0; i < n; i += 32, to += 4 * w) {
            auto const apart = _mm256_madd_epi16(joined(codes + i), fours);
            auto const eights = _mm256_srl_epi64(_mm256_sllv_epi32(apart, up), down);
            store_halves(to, _mm256_shuffle_epi8(eights, places), 2 * w);
        }
    }
    if constexpr (sizeof(Code) == 2) {
        if (w == 16) {
            for (std::size_t i = 0; i < n; i += 16) store(to + 2 * i, words_at(codes + i));
        } else if (w > 8) {
            auto const twos = _mm256_set1_epi32(static_cast<int>(1 | 1u << w << 16));
            auto const up = _mm256_set1_epi64x(32 - 2 * w);
            unsigned const half = w % 2 * 4;  // bits of a byte that the next four words share
            auto const down = _mm256_setr_epi64x(32 - 2 * w, 32 - 2 * w - half, 32 - 2 * w, 32 - 2 * w - half);
            auto const& parts = places_of_fours[w];
            auto const at = [&](std::size_t part) {
                return _mm256_broadcastsi128_si256(
                    _mm_loadu_si128(reinterpret_cast<__m128i const*>(parts[part].data())));
            };
            auto const first = at(0), second = at(1);
            for (std::size_t i = 0; i < n; i += 16, to += 2 * w) {
                auto const apart = _mm256_madd_epi16(words_at(codes + i), twos);
                auto const fours = _mm256_srlv_epi64(_mm256_sllv_epi32(apart, up), down);
                store_halves(to, _mm256_or_si256(_mm256_shuffle_epi8(fours, first), _mm256_shuffle_epi8(fours, second)),
                             w);
            }
        }
    }
    auto const above =
        sizeof(Code) == 1 ? _mm256_subs_epu8(largest, each(f.most)) : _mm256_subs_epu16(largest, each(f.most));
    return _mm256_testz_si256(above, above) != 0;
}

}  // namespace laconic::detail
