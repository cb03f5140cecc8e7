// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "laconic/backend/host/impl/caches.hpp"
#include "laconic/backend/host/impl/kth_largest.hpp"
#include "laconic/backend/host/impl/positions.hpp"
#include "laconic/backend/host/memory.hpp"
#include "laconic/core/contract.hpp"
#include "laconic/core/term.hpp"
#include "laconic/core/view.hpp"

namespace laconic::detail {

// The names of numbers: their places, which they are written by, 64 at a time.
struct own_places {
    coordinate operator()(std::size_t i) const { return static_cast<coordinate>(i); }
    template <class A>
    std::size_t write(std::uint64_t bits, std::size_t first, coordinate* out) const {
        return write_positions<A>(bits, first, out);
    }
};
// Or what stands there in a list, which 64 more may be read of.
struct listed_places {
    coordinate const* at;
    coordinate operator()(std::size_t i) const { return at[i]; }
    template <class A>
    std::size_t write(std::uint64_t bits, std::size_t first, coordinate* out) const {
        return write_chosen<A>(bits, at + first, out);
    }
};

// name(i) of the k numbers x_i whose magnitudes are above the threshold, or equal to it and among the first so.
template <class A, Scalar T, class Name>
void take_from(std::span<T const> x, cutoff<T> t, std::size_t k, Name name, std::vector<coordinate>& out) {
    out.resize(k);  // and no more, for which there may be no room
    std::size_t n = 0;
    if (std::isnan(t.value)) {  // NaNs are compared by their bits
        for (std::size_t i = 0; n < k; ++i) {
            auto const m = magnitude_bits(x[i]), least = magnitude_bits(t.value);
            bool const equal = m == least && t.equal > 0;
            t.equal -= equal;
            if (m > least || equal) out[n++] = name(i);
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
            n += static_cast<std::size_t>(std::popcount(chosen)) + list_margin <= k - n
                     ? name.template write<A>(chosen, first, out.data() + n)
                     : write_list_within(k - n, chosen, out.data() + n, [&](std::size_t j) { return name(first + j); });
            return n < k;
        });
    }
}

// How many |x_i| are above the bound, as magnitude_bits has them: NaNs are compared, too. Or some number from `enough`
// on, where there are as many.
template <class A, Scalar T>
std::size_t count_above(std::span<T const> x, T bound, std::size_t enough = largest_dimension) {
    if (std::isnan(bound))
        return static_cast<std::size_t>(
            std::count_if(x.begin(), x.end(), [bound](T v) { return magnitude_bits(v) > magnitude_bits(bound); }));
    std::size_t n = 0;
    for_each_word(x, [&](T const* p, std::uint64_t real, std::size_t) {
        n += static_cast<std::size_t>(std::popcount(bits_above<A>(p, bound) & real));
        return n < enough;
    });
    return n;
}

// The numbers above a bound, and their coordinates: the first `count` of both.
template <Scalar T>
struct candidates {
    std::span<T> values;
    std::span<coordinate> at;
    std::size_t count = 0;  // above a quarter of all: there may be more
};

// Writes p[j] and first + j for each |p_j| > bound of 64 where bit j of `real` is set, ascending, and returns how many
// these are. A NaN is above.
template <class A, Scalar T>
std::size_t write_above(T const* p, T bound, std::uint64_t real, std::size_t first, T* values, coordinate* at) {
    auto const above = bits_above<A>(p, bound) & real;
    write_list<4>(above, values, [p](std::size_t j) { return p[j]; });
    return write_list<4>(above, at, [first](std::size_t j) { return static_cast<coordinate>(first + j); });
}

// The coordinates with |x_i| > bound, a NaN among them, in ascending order; in the first half of a room for x.size().
// `few` is whether few words of 64 numbers have more than four of them.
template <class A, Scalar T>
candidates<T> collect_above(std::span<T const> x, T bound, [[maybe_unused]] bool few, std::span<T> room) {
    auto const enough = x.size() / 4, most = enough + 2 * word_bits;
    T* const values = room.data();
    auto* const at = reinterpret_cast<coordinate*>(values + most);  // coordinates are not longer than numbers
    std::size_t n = 0, done = 0;
    if constexpr (instruction_set::has_avx512)
        if (!few)
            for (; done + word_bits <= x.size() && n <= enough; done += word_bits) {
                fetch_ahead<word_bits * sizeof(T)>(x.data() + done);
                n += write_many_above<A>(x.data() + done, bound, done, values + n, at + n);
            }
    if (n <= enough)
        for_each_word(x.subspan(done), [&](T const* p, std::uint64_t real, std::size_t first) {
            n += write_above<A>(p, bound, real, done + first, values + n, at + n);
            return n <= enough;
        });
    return {room.first(most), {at, most}, n};
}

// From how many numbers on a guess is worth a pass.
inline constexpr std::size_t worth_a_pass = std::size_t{1} << 15;

// Calls use(values, name, t) with the k-th largest magnitude t of x. `values` holds all numbers that are not below it,
// and name(i) is the coordinate of values[i], ascending. 1 <= k <= x.size().
template <class A, Scalar T, class Use>
void with_kth_largest(kernels::basic_host<A>& on, std::span<T const> x, std::size_t k, Use use) {
    auto const room = on.template scratch<T>(detail::scratch_for::numbers, room_for(x.size()));
    if (x.size() >= worth_a_pass && k <= x.size() / 8)
        if (auto const b = guess_bracket<A>(x, k, first_spread, room); std::isfinite(b.low)) {
            auto const found = collect_above<A>(x, b.low, k <= x.size() / 32, room);
            if (k <= found.count && found.count <= x.size() / 4) {
                std::span<T const> const values = found.values.first(found.count);
                auto const t = kth_largest<A>(values, k, room.subspan(room.size() / 2));
                return use(values, listed_places{found.at.data()}, t);
            }
            if (found.count < k && k <= count_above<A>(x, next_below(b.low), k))
                return use(x, own_places{}, cutoff<T>{b.low, k - found.count});
        }
    use(x, own_places{}, kth_largest<A>(x, k, room));
}

}  // namespace laconic::detail

namespace laconic::kernels {

/// The k coordinates with the largest |x_i|, of equal ones the lower coordinate first. k <= x.size() < 2^32.
/// Where k is at most an eighth of a long x: one pass that takes what is above a guess, and a selection among these
/// few. Else, and where many are equal: one pass that finds the k-th largest, and one that takes what is not below it.
/// A NaN is larger than infinity.
template <class A, Scalar T>
void select_largest(basic_host<A>& on, std::span<T const> x, std::size_t k, std::vector<coordinate>& out) {
    LACONIC_EXPECTS(k <= x.size() && x.size() <= detail::largest_dimension);
    if (k == 0) return out.clear();
    detail::with_kth_largest(on, x, k, [&](std::span<T const> values, auto name, detail::cutoff<T> t) {
        detail::take_from<A>(values, t, k, name, out);
    });
}

}  // namespace laconic::kernels
