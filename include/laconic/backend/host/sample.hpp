// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "laconic/backend/host/memory.hpp"
#include "laconic/core/contract.hpp"
#include "laconic/core/key.hpp"
#include "laconic/core/term.hpp"

namespace laconic {

namespace detail {

// Sorts numbers below d, ascending, in O(n): many by their digits to the base 2048, the lowest first, of which there
// are at most three; `spare` is as long.
inline void sort_ascending(std::span<coordinate> at, std::span<coordinate> spare, std::size_t d) {
    if (at.size() <= 256) return std::sort(at.begin(), at.end());
    constexpr unsigned width = 11;
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

// The first n different numbers of the stream key.below(0, d), key.below(1, d), ...: every set of n coordinates is
// equally likely. In both ways at least half of the draws are new on average, as 2 n <= d.

// Marks them in a bitmap of d bits, all 0 before.
inline void mark_different(key from, std::size_t d, std::size_t n, std::span<std::uint64_t> marks) {
    for (std::uint64_t drawn = 0, found = 0; found < n; ++drawn) {
        auto const i = from.below(drawn, d);
        auto const bit = std::uint64_t{1} << i % 64;
        found += (marks[i / 64] & bit) == 0;
        marks[i / 64] |= bit;
    }
}

// Lists them, ascending; 64 n < d < 2^32. Draws as many as are missing, joins them with those found before and drops
// repetitions, until n are there. Later draws never displace earlier ones. Of each round less than one in 64 is missing
// on average, so six are enough for any d; each is O(n).
template <class A>
void list_different(basic_host<A>& on, key from, std::size_t d, std::size_t n, std::vector<coordinate>& out) {
    auto const spare = on.template scratch<coordinate>(0, n);
    out.clear();
    std::uint64_t drawn = 0;
    while (out.size() < n) {
        auto const found = out.size();
        out.resize(n);
        auto const fresh = std::span(out).subspan(found);
        for (coordinate& i : fresh) i = static_cast<coordinate>(from.below(drawn++, d));
        sort_ascending(fresh, spare.first(fresh.size()), d);
        std::merge(out.begin(), out.end() - std::ssize(fresh), fresh.begin(), fresh.end(), spare.begin());
        out.erase(std::unique_copy(spare.begin(), spare.end(), out.begin()), out.end());
    }
}

}  // namespace detail

/// k of the coordinates 0 .. d-1, ascending, every set of k equally likely; a pure function of (key, d, k). k <= d <
/// 2^32. O(k), whatever d is. Where k > d / 2 the d - k coordinates left out are drawn instead.
template <class A>
void sample(basic_host<A>& on, key from, std::size_t d, std::size_t k, std::vector<coordinate>& out) {
    LACONIC_EXPECTS(k <= d && d <= largest_dimension);
    if (k < d / 64) return detail::list_different(on, from, d, k, out);
    auto const marks = on.template scratch<std::uint64_t>(0, (d + 63) / 64);
    std::fill(marks.begin(), marks.end(), std::uint64_t{0});
    detail::mark_different(from, d, std::min(k, d - k), marks);
    out.resize(k);
    std::size_t n = 0;
    for (std::size_t w = 0; n < k; ++w)
        for (auto left = k <= d / 2 ? marks[w] : ~marks[w]; left != 0 && n < k; left &= left - 1)
            out[n++] = static_cast<coordinate>(64 * w + static_cast<unsigned>(std::countr_zero(left)));
}

/// Each of the coordinates 0 .. d-1 with probability p in [0, 1] (off by at most 2^-32), independently, ascending; a
/// pure function of (key, d, p). O(d).
template <class A>
void sample_each(basic_host<A>&, key from, std::size_t d, double p, std::vector<coordinate>& out) {
    LACONIC_EXPECTS(d <= largest_dimension && p >= 0 && p <= 1);
    auto const bound = static_cast<std::uint64_t>(p * 0x1p32);
    out.clear();
    out.reserve(d);  // once: a later support may be larger
    for (std::size_t i = 0; i < d; i += 4) {
        auto const words = from.words(i / 4);
        for (std::size_t j = i; j < std::min(i + 4, d); ++j)
            if (words[j - i] < bound) out.push_back(static_cast<coordinate>(j));
    }
}

}  // namespace laconic
