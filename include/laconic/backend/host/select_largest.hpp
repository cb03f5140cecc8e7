// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "laconic/backend/host/kth_largest.hpp"
#include "laconic/backend/host/memory.hpp"
#include "laconic/backend/host/positions.hpp"
#include "laconic/core/contract.hpp"
#include "laconic/core/term.hpp"
#include "laconic/core/view.hpp"

namespace laconic {

namespace detail {

// The positions of the k magnitudes above the threshold, or equal to it as far as it takes these, from the front on.
template <class A, Scalar T>
void take_from(std::span<T const> x, threshold<T> t, std::size_t k, std::vector<coordinate>& out) {
    out.resize(k + list_margin);
    std::size_t n = 0;
    if (std::isnan(t.value)) {  // NaNs are compared by their bits
        for (std::size_t i = 0; n < k; ++i) {
            auto const m = magnitude_bits(x[i]), least = magnitude_bits(t.value);
            bool const equal = m == least && t.equal > 0;
            t.equal -= equal;
            if (m > least || equal) out[n++] = static_cast<coordinate>(i);
        }
    } else {
        T const below = next_below(t.value);
        for_each_word(x, [&](T const* p, std::uint64_t real, std::size_t first) {
            auto chosen = bits_above<A>(p, below) & real;
            if (chosen == 0) return true;
            if (auto equal = chosen & ~bits_above<A>(p, t.value); equal != 0) {
                auto const count = static_cast<std::size_t>(std::popcount(equal));
                for (std::size_t j = 0; j < std::min(t.equal, count); ++j) equal &= equal - 1;  // these stay
                chosen &= ~equal;
                t.equal -= std::min(t.equal, count);
            }
            n += write_positions(chosen, first, out.data() + n);
            return n < k;
        });
    }
    out.resize(k);
}

struct candidates {
    std::size_t count = 0;  // how many are above a bound; more than `most` where they are too many, and these not all
    std::size_t equal = 0;  // how many are equal to it
};

// The coordinates with |x_i| > low, a NaN among them, and the numbers there.
template <class A, Scalar T>
candidates collect_above(std::span<T const> x, T low, std::size_t most, std::span<coordinate> at, std::span<T> values) {
    candidates found;
    T const below = next_below(low);
    for_each_word(x, [&](T const* p, std::uint64_t real, std::size_t first) {
        auto const bits = bits_above<A>(p, below) & real;
        if (bits == 0) return true;
        auto const above = bits_above<A>(p, low) & real;
        found.equal += static_cast<std::size_t>(std::popcount(bits ^ above));
        write_list(above, values.data() + found.count, [p](std::size_t j) { return p[j]; });
        found.count += write_positions(above, first, at.data() + found.count);
        return found.count <= most;
    });
    return found;
}

}  // namespace detail

/// The k coordinates with the largest |x_i|, of equal ones the lower coordinate first. k <= x.size() < 2^32.
/// Where k is a small part of a long x: one pass that takes what is above a guess, and a selection among these few.
/// Else, and where many are equal: one pass that finds the k-th largest, and one that takes what is not below it.
template <class A, Scalar T>
void select_largest(basic_host<A>& on, std::span<T const> x, std::size_t k, std::vector<coordinate>& out) {
    LACONIC_EXPECTS(k <= x.size() && x.size() <= largest_dimension);
    if (k == 0) return out.clear();
    auto const room = on.template scratch<T>(0, detail::room_for(x.size()));
    if (x.size() >= 16 * detail::worth_a_guess && k <= x.size() / 8) {
        std::size_t const most = x.size() / 4;
        if (auto const b = detail::guess_bracket<A>(x, k, 0x9E3779B9u, room); b.low < INFINITY) {
            auto const values = room.first(most + 2 * detail::word_bits);
            // Their coordinates lie behind them, in the same memory.
            std::span const at(reinterpret_cast<coordinate*>(values.data() + values.size()), values.size());
            auto const found = detail::collect_above<A>(x, b.low, most, at, values);
            if (k <= found.count && found.count <= most) {
                auto const t = detail::kth_largest<A>(std::span<T const>(values.first(found.count)), k,
                                                      room.subspan(2 * values.size()));
                detail::take_from<A>(std::span<T const>(values.first(found.count)), t, k, out);
                for (coordinate& i : out) i = at[i];
                return;
            }
            if (found.count < k && k <= found.count + found.equal)
                return detail::take_from<A>(x, {b.low, k - found.count}, k, out);
        }
    }
    detail::take_from<A>(x, detail::kth_largest<A>(x, k, room), k, out);
}

}  // namespace laconic
