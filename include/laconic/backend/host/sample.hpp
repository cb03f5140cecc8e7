// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "laconic/backend/host/impl/positions.hpp"
#include "laconic/backend/host/philox.hpp"

namespace laconic::detail {

// Sorts numbers below d, ascending, in O(n): many by their digits to the base 4096, the lowest first, of which there
// are at most three; `spare` is as long.
inline void sort_ascending(std::span<coordinate> at, std::span<coordinate> spare, std::size_t d) {
    if (at.size() <= 256) return std::sort(at.begin(), at.end(), [](auto i, auto j) { return i < j; });
    constexpr unsigned width = 12;
    auto from = at, to = spare;
    for (unsigned shift = 0; shift < width_of(d); shift += width, std::swap(from, to)) {
        std::array<coordinate, 1 << width> place{};  // where the next number with such a digit goes
        auto const digit = [&](coordinate i) { return i >> shift & (place.size() - 1); };
        for (coordinate const i : from) ++place[digit(i)];
        std::exclusive_scan(place.begin(), place.end(), place.begin(), coordinate{0});
        for (coordinate const i : from) to[place[digit(i)]++] = i;
    }
    if (from.data() != at.data()) std::copy(from.begin(), from.end(), at.begin());
}

// out_j = from.below(first + j, d), d < 2^32.
template <class A>
void draw_below(kernels::basic_host<A>& on, key from, std::uint64_t first, std::uint64_t d, std::span<coordinate> out) {
    std::array<std::uint32_t, 512> words;  // two for each number, four to a block of the key's
    while (!out.empty()) {
        auto const skipped = first % 2;
        auto const n = std::min(out.size(), words.size() / 2 - skipped);
        draw_words(on, from, first / 2, std::span(words).first((n + skipped + 1) / 2 * 4));
        for (std::size_t j = 0; j < n; ++j) {
            auto const* const two = words.data() + 2 * (j + skipped);
            std::uint64_t both;
            if constexpr (std::endian::native == std::endian::little)  // one load: compilers make better vectors of it
                std::memcpy(&both, two, sizeof both);
            else
                both = two[0] | std::uint64_t{two[1]} << 32;
            std::uint64_t const low = both & 0xffffffffu, high = both >> 32;
            out[j] = static_cast<coordinate>((high * d + (low * d >> 32)) >> 32);
        }
        out = out.subspan(n);
        first += n;
    }
}

// The first n different numbers of the stream key.below(0, d), key.below(1, d), ...: every set of n coordinates is
// equally likely. In both ways at least half of the draws are new on average, as 2 n <= d.

// Marks them in a bitmap of d bits, all 0 before.
template <class A>
void mark_different(kernels::basic_host<A>& on, key from, std::size_t d, std::size_t n,
                    std::span<std::uint64_t> marks) {
    std::array<coordinate, 1024> some;
    for (std::uint64_t drawn = 0; n > 0;) {
        auto const fresh = std::span(some).first(std::min(n, some.size()));  // even if all are new
        draw_below(on, from, drawn, d, fresh);
        drawn += fresh.size();
        for (coordinate const i : fresh) {
            auto const bit = std::uint64_t{1} << i % 64;
            n -= (marks[i / 64] & bit) == 0;
            marks[i / 64] |= bit;
        }
    }
}

// From one in so many on the bitmap is faster than the list, though all of it is passed over.
inline constexpr std::size_t worth_a_bitmap = 50;

// The coordinates of the first out.size() marks, ascending, of which there are as many; `flip` is what is
// exclusive-ored with each word before.
template <std::size_t together>
void list_marks(std::span<std::uint64_t const> marks, std::uint64_t flip, std::span<coordinate> out) {
    for (std::size_t w = 0, n = 0; n < out.size(); ++w)
        n += write_list_within<together>(out.size() - n, marks[w] ^ flip, out.data() + n,
                                         [w](std::size_t j) { return static_cast<coordinate>(word_bits * w + j); });
}

// Lists them, ascending; worth_a_bitmap x n < d < 2^32. Draws n and sorts them; then, for those that were there twice,
// as many as are missing, again and again. Later draws never displace earlier ones. Of each round less than one in 50
// is missing on average, so five are enough for any d. O(n).
template <class A>
void list_different(kernels::basic_host<A>& on, key from, std::size_t d, std::size_t n, std::vector<coordinate>& out) {
    auto const spare = on.template scratch<coordinate>(detail::scratch_for::numbers, n);
    out.resize(n);
    draw_below(on, from, 0, d, std::span(out));
    sort_ascending(out, spare, d);
    auto const later = std::unique(out.begin(), out.end());
    auto end = later;  // of the later ones
    for (std::uint64_t drawn = n; end != out.end();) {
        std::span const fresh(end, out.end());
        draw_below(on, from, drawn, d, fresh);
        drawn += fresh.size();
        std::sort(later, out.end(), [](coordinate i, coordinate j) { return i < j; });
        auto const known = [&](coordinate i) { return std::binary_search(out.begin(), later, i); };
        end = std::remove_if(later, std::unique(later, out.end()), known);
    }
    // The later ones find their places from the back on.
    auto const moved = spare.first(static_cast<std::size_t>(out.end() - later));
    std::copy(later, out.end(), moved.begin());
    auto earlier = later, to = out.end();
    for (std::size_t j = moved.size(); j > 0; *--to = moved[--j]) {
        auto const place = std::upper_bound(out.begin(), earlier, moved[j - 1]);
        to = std::copy_backward(place, earlier, to);
        earlier = place;
    }
}

// The coordinates below d that drawn(i, words) accepts, where coordinate i has `each` words of the key for itself.
template <std::size_t each, class A, class Drawn>
void list_drawn(kernels::basic_host<A>& on, key from, std::size_t d, std::vector<coordinate>& out, Drawn drawn) {
    out.clear();
    out.reserve(d);  // once: a later support may be larger
    std::array<std::uint32_t, 512> words;
    std::array<coordinate, words.size() / each> chosen;
    for (std::size_t i = 0; i < d; i += chosen.size()) {
        auto const n = std::min(chosen.size(), d - i);
        draw_words(on, from, i * each / 4, std::span(words).first((n * each + 3) / 4 * 4));
        std::size_t count = 0;
        for (std::size_t j = 0; j < n; ++j) {
            chosen[count] = static_cast<coordinate>(i + j);
            count += drawn(i + j, words.data() + each * j);
        }
        std::copy_n(chosen.data(), count, out.insert(out.end(), count, coordinate{0}));
    }
}

}  // namespace laconic::detail

namespace laconic::kernels {

/// k of the coordinates 0 .. d-1, ascending, every set of k equally likely; a pure function of (key, d, k). k <= d <
/// 2^32. O(k), whatever d is. Where k > d / 2 the d - k coordinates left out are drawn instead.
template <class A>
void sample(basic_host<A>& on, key from, std::size_t d, std::size_t k, std::vector<coordinate>& out) {
    LACONIC_EXPECTS(k <= d && d <= detail::largest_dimension);
    if (k < d / detail::worth_a_bitmap) return detail::list_different(on, from, d, k, out);
    auto const marks = on.template scratch<std::uint64_t>(detail::scratch_for::numbers, (d + 63) / 64);
    std::fill(marks.begin(), marks.end(), std::uint64_t{0});
    detail::mark_different(on, from, d, std::min(k, d - k), marks);
    out.resize(k);
    if (k > d / 2) return detail::list_marks<8>(marks, ~std::uint64_t{0}, out);
    if (k > d / 16) return detail::list_marks<8>(marks, 0, out);
    detail::list_marks<4>(marks, 0, out);
}

/// Each of the coordinates 0 .. d-1 with probability p in [0, 1] (off by at most 2^-32), independently, ascending; a
/// pure function of (key, d, p). O(d).
template <class A>
void sample_each(basic_host<A>& on, key from, std::size_t d, double p, std::vector<coordinate>& out) {
    LACONIC_EXPECTS(d <= detail::largest_dimension && p >= 0 && p <= 1);
    // Of a p that is a bool's 1, clang 14 makes p * 0x1p32 the integer 2^31 - 1 (its pass Float2Int).
    auto const bound = p < 1 ? static_cast<std::uint64_t>(p * 0x1p32) : std::uint64_t{1} << 32;
    detail::list_drawn<1>(on, from, d, out, [bound](std::size_t, std::uint32_t const* word) { return *word < bound; });
}

/// Each coordinate with probability min(1, |x_i| / bound), independently: coordinate i is drawn iff uniform(i) x bound
/// is below |x_i|. bound >= 0; 0 takes all that are not 0. All finite. One pass.
template <class A, Scalar T>
void sample_in_proportion(basic_host<A>& on, std::span<T const> x, T bound, key from, std::vector<coordinate>& out) {
    LACONIC_EXPECTS(bound >= 0 && x.size() <= detail::largest_dimension);
    detail::list_drawn<2>(on, from, x.size(), out, [x, bound](std::size_t i, std::uint32_t const* two) {
        auto const bits = (two[0] | std::uint64_t{two[1]} << 32) >> 11;  // as key::uniform
        auto const uniform = static_cast<double>(static_cast<std::int64_t>(bits)) * 0x1p-53;
        return uniform * static_cast<double>(bound) < static_cast<double>(std::abs(x[i]));
    });
}

}  // namespace laconic::kernels
