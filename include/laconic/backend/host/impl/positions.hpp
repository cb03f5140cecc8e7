// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "laconic/backend/host/impl/caches.hpp"
#include "laconic/core/term.hpp"
#include "laconic/core/view.hpp"

/// Which of 64 numbers are chosen, as the bits of a word, the first as the lowest; and the way from bits to lists,
/// which has no branch for each bit.
namespace laconic::detail {

inline constexpr std::size_t word_bits = 64;

/// How many elements behind its end a list of positions or numbers may be written to.
inline constexpr std::size_t list_margin = 16;

/// Which |x_j| of the 64 from x on are above the bound; a NaN is.
template <class A, Scalar T>
std::uint64_t bits_above(T const* x, T bound) {
    using pack = simd::pack<T, A>;
    auto const bounds = pack::all(bound);
    std::uint64_t at_most = 0;
    for (std::size_t j = 0; j < word_bits; j += pack::width)
        at_most |= which_at_most(magnitude(pack::load(x + j)), bounds) << j;
    return ~at_most;
}

/// Calls use(p, real, first) for each 64 numbers of x, which p points to; x[first] is the first of them. `real` is all
/// ones, but of the last word, where it marks which of the 64 are in x; the others are 0 then. Stops where use returns
/// false.
template <Scalar T, class Use>
void for_each_word(std::span<T const> x, Use use) {
    std::size_t i = 0;
    for (; i + word_bits <= x.size(); i += word_bits) {
        fetch_ahead<word_bits * sizeof(T)>(x.data() + i);
        if (!use(x.data() + i, ~std::uint64_t{0}, i)) return;
    }
    if (i == x.size()) return;
    std::array<T, word_bits> last{};
    std::copy(x.begin() + static_cast<std::ptrdiff_t>(i), x.end(), last.begin());
    use(last.data(), (std::uint64_t{1} << (x.size() - i)) - 1, i);
}

/// Writes what value(j) is for every bit j of `bits` that is set, ascending, and returns how many these are. It is also
/// asked for values of other bits. `together` is how many are written without a branch: for words with few bits, less.
template <std::size_t together = 8, class V, class Value>
std::size_t write_list(std::uint64_t bits, V* out, Value value) {
    // With it there is always a one, and zeros below it are counted by one instruction on any processor.
    constexpr auto last = std::uint64_t{1} << (word_bits - 1);
    auto const n = static_cast<std::size_t>(std::popcount(bits));
    if (n > word_bits / 2) {
        for (std::size_t written = 0, j = 0; j < word_bits; ++j) {
            out[written] = value(j);
            written += bits >> j & 1;
        }
        return n;
    }
    std::size_t written = 0;
    do {
        for (std::size_t j = 0; j < together; ++j) {  // though fewer may be left
            out[written + j] = value(static_cast<std::size_t>(std::countr_zero(bits | last)));
            bits &= bits - 1;
        }
        written += together;
    } while (written < n);
    return n;
}

/// The same into a list that has room for `room` elements and no more: what does not fit is left out.
template <std::size_t together = 8, class V, class Value>
std::size_t write_list_within(std::size_t room, std::uint64_t bits, V* out, Value value) {
    if (static_cast<std::size_t>(std::popcount(bits)) + list_margin <= room)
        return write_list<together>(bits, out, value);
    std::size_t written = 0;
    for (; bits != 0 && written < room; bits &= bits - 1)
        out[written++] = value(static_cast<std::size_t>(std::countr_zero(bits)));
    return written;
}

/// Writes from[j] for every bit j of `bits` that is set, ascending, and returns how many these are. All 64 are read.
template <class A, std::size_t together = 8, class V>
std::size_t write_chosen(std::uint64_t bits, V const* from, V* out) {
    if constexpr (instruction_set::has_avx512)
        return compress_chosen<A>(bits, from, out);
    else
        return write_list<together>(bits, out, [from](std::size_t j) { return from[j]; });
}

/// Writes first + j for every bit j of `bits` that is set, ascending, and returns how many these are.
template <class A, std::size_t together = 8>
std::size_t write_positions(std::uint64_t bits, std::size_t first, coordinate* out) {
    if constexpr (instruction_set::has_avx512)
        return compress_positions<A>(bits, first, out);
    else
        return write_list<together>(bits, out, [first](std::size_t j) { return static_cast<coordinate>(first + j); });
}

/// All coordinates that chosen(p, real, first) marks among each 64 numbers of x, as in for_each_word.
template <class A, Scalar T, class Chosen>
void list_chosen(std::span<T const> x, std::vector<coordinate>& out, Chosen chosen) {
    constexpr std::size_t many = 4096;
    std::array<coordinate, many + word_bits + list_margin> some;
    std::size_t n = 0;
    auto const append = [&] {  // insert() of a range is not inlined (laconic/dispatched.hpp)
        std::copy_n(some.data(), n, out.insert(out.end(), n, coordinate{0}));
        n = 0;
    };
    out.clear();
    out.reserve(x.size());  // once: a later list may be longer
    for_each_word(x, [&](T const* p, std::uint64_t real, std::size_t first) {
        auto const bits = chosen(p, real, first) & real;
        if (bits != 0) n += write_positions<A>(bits, first, some.data() + n);
        if (n >= many) append();
        return true;
    });
    append();
}

}  // namespace laconic::detail
