// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string_view>

#include "laconic/core/key.hpp"
#include "laconic/core/size.hpp"
#include "laconic/core/term.hpp"
#include "laconic/core/view.hpp"

/// What kernels take, of every backend, and what their contracts are written with.
namespace laconic::kernels {

/// Which of its two neighbours on a grid a value becomes.
enum class rounding { random, nearest };
constexpr std::array<std::string_view, 2> words_of(rounding) { return {"random", "nearest"}; }

/// Which norm of a bucket its grid spans.
enum class p_norm { one, two, largest };
constexpr std::array<std::string_view, 3> words_of(p_norm) { return {"1", "2", "inf"}; }

/// What stands for a level of a grid with as many levels above 0 as below: a byte where that holds all of them.
template <class T>
concept LevelCode = std::same_as<T, std::int8_t> || std::same_as<T, std::int16_t>;

/// How many levels to a side a code has.
template <LevelCode Code>
inline constexpr int most_levels = std::numeric_limits<Code>::max();

/// Where codes go as a kernel makes them, in order: take(to, codes, n) gets the next n, a multiple of 320 except for
/// the last, as many as stay in the first cache. It may throw. Kernels of the host's memory take this in place of an
/// array.
template <class Code>
struct code_stream {
    using value_type = Code;
    void* to;
    void (*take)(void* to, Code const* codes, std::size_t n);
};
/// An array of codes, or such a stream.
template <class Codes, class Code>
concept CodesOf = std::same_as<Codes, std::span<Code>> || std::same_as<Codes, code_stream<Code>>;
template <class Codes>
concept LevelCodes = CodesOf<Codes, std::int8_t> || CodesOf<Codes, std::int16_t>;
/// Whether there is room for n codes.
template <class Code>
bool have_room(std::span<Code> codes, std::size_t n) {
    return codes.size() == n;
}
template <class Code>
bool have_room(code_stream<Code>, std::size_t) {
    return true;
}

/// How a matrix enters a product: as it stands, or with rows and columns exchanged.
enum class matrix_is { as_it_stands, transposed };

/// A sparse vector in a backend's memory, for kernels to read: ascending coordinates, none twice, and as many values.
template <Scalar T>
struct listed_terms {
    std::span<coordinate const> at{};
    std::span<T const> values{};
};

/// What a backend's compensate() takes, for who calls it later: out <- a g - h + b e.
template <Scalar T>
struct compensation {
    T a = 1;
    std::span<T const> g{}, h{};
    T b = 0;
    std::span<T const> e{};
    std::span<T> out{};
};
template <class B, Scalar T>
bool compensate(B& on, compensation<T> const& sum) {
    return compensate(on, sum.a, sum.g, sum.h, sum.b, sum.e, sum.out);
}

}  // namespace laconic::kernels

namespace laconic {

using kernels::p_norm, kernels::rounding;

}  // namespace laconic

namespace laconic::detail {

/// How all backends round at random: whether a value between two neighbours becomes the upper one. The fraction of the
/// way that is behind it, in [0, 1], and the chance, in units of 2^-32, make a whole.
constexpr bool goes_up(double fraction, std::uint32_t chance) { return fraction * 0x1p32 + double(chance) >= 0x1p32; }

/// Number i of a key's stream of those that draw_symmetric() draws.
template <Scalar T>
constexpr T symmetric_number(key from, std::uint64_t i) {
    if constexpr (sizeof(T) == 4)
        return (2 * static_cast<float>(from.word(i) >> 8) - 0x1p24f + 1) * 0x1p-24f;
    else
        return 2 * from.uniform(i) - 1 + 0x1p-53;
}

/// Whether sign i of a key's stream of them is negative.
constexpr bool negative_sign(key from, std::uint64_t i) { return (from.word(i / 32) >> i % 32 & 1) != 0; }

}  // namespace laconic::detail
