// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "laconic/backend/host/memory.hpp"
#include "laconic/core/contract.hpp"
#include "laconic/core/key.hpp"
#include "laconic/core/term.hpp"

namespace laconic {

namespace detail {

// The first n different numbers of the stream key.below(0, d), key.below(1, d), ..., ascending: every set of n
// coordinates is equally likely. 2 n <= d, so that fewer than 1.4 n draws are expected. O(n log n) for the sort.
template <class A>
void first_different(key from, std::size_t d, std::size_t n, std::vector<coordinate>& out) {
    // Open addressing over the numbers already drawn would need no sort but a table; sorting rounds of draws keeps
    // what is drawn in `out` itself: draw as many as are missing, sort, drop repetitions, until n are there. Later
    // draws never displace earlier ones, so the set is that of the first n different numbers.
    out.clear();
    std::uint64_t drawn = 0;
    while (out.size() < n) {
        for (auto missing = n - out.size(); missing > 0; --missing)
            out.push_back(static_cast<coordinate>(from.below(drawn++, d)));
        std::sort(out.begin(), out.end());
        out.erase(std::unique(out.begin(), out.end()), out.end());
    }
}

}  // namespace detail

/// k of the coordinates 0 .. d-1, ascending, every set of k equally likely; a pure function of (key, d, k). k <= d <
/// 2^32. O(k log k), whatever d is, when 2 k <= d; otherwise the d - k coordinates left out are drawn instead, and
/// O(d).
template <class A>
void sample(basic_host<A>& on, key from, std::size_t d, std::size_t k, std::vector<coordinate>& out) {
    LACONIC_EXPECTS(k <= d && d <= largest_dimension);
    if (k <= d / 2) return detail::first_different<A>(from, d, k, out);
    auto const kept = on.template scratch<std::uint8_t>(0, d);
    detail::first_different<A>(from, d, d - k, out);
    std::fill(kept.begin(), kept.end(), std::uint8_t{1});
    for (coordinate const i : out) kept[i] = 0;
    out.clear();
    for (std::size_t i = 0; i < d; ++i)
        if (kept[i]) out.push_back(static_cast<coordinate>(i));
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
