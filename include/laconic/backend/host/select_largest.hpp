// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "laconic/backend/host/impl/positions.hpp"
#include "laconic/backend/host/memory.hpp"

/// The k-th largest of many magnitudes, without sorting them: a sample bounds it by two numbers, one pass counts what
/// is above and takes what is between, and there it is looked for in the same way. And the k largest.
namespace laconic::detail {

/// The largest number below the magnitude x, which is no NaN; -1 for 0.
template <Scalar T>
T next_below(T x) {
    auto const bits = magnitude_bits(x);
    return bits == 0 ? T(-1) : std::bit_cast<T>(bits - 1);
}

/// How many numbers there have to be for a guess, and at how many it looks at most.
inline constexpr std::size_t worth_a_guess = 2048, most_samples = std::size_t{1} << 13;

/// How far apart the samples of a guess lie, and of another.
inline constexpr std::uint32_t first_spread = 0x9E3779B9u, second_spread = 0x85EBCA6Bu;

/// The k-th largest magnitude, and how many of those that are equal to it are among the k largest.
template <Scalar T>
struct cutoff {
    T value;
    std::size_t equal;
};

/// Room that kth_largest needs for n numbers.
constexpr std::size_t room_for(std::size_t n) { return n + 8 * word_bits; }

template <class A, Scalar T>
cutoff<T> kth_largest(std::span<T const> x, std::size_t k, std::span<T> room);

/// Two magnitudes that most probably have the k-th largest between them: low <= it <= high.
template <Scalar T>
struct bracket {
    T low, high;
};

/// Guesses it from samples, at other places for another `spread`; NaN where they do not suffice.
template <class A, Scalar T>
bracket<T> guess_bracket(std::span<T const> x, std::size_t k, std::uint32_t spread, std::span<T> room) {
    auto const n = std::min(most_samples, x.size() / 16);
    auto const samples = room.first(n), more_room = room.subspan(n);
    std::uint64_t const stride = x.size() / n;
    for (std::uint32_t j = 0; j < n; ++j)  // unevenly far apart: x may have a period
        samples[j] = x[j * stride + (std::uint64_t{j * spread} * stride >> 32)];
    double const share = static_cast<double>(k) / static_cast<double>(x.size()), count = static_cast<double>(n);
    double const margin = 4 * std::sqrt(count * share * (1 - share)) + 4;  // one in 30 000 is farther off
    auto const at_rank = [&](double rank) {
        return kth_largest<A>(std::span<T const>(samples), static_cast<std::size_t>(rank), more_room).value;
    };
    return {.low = count * share + margin < count ? at_rank(count * share + margin) : T(0),
            .high = count * share - margin >= 1 ? at_rank(count * share - margin) : std::numeric_limits<T>::infinity()};
}

/// The k-th largest, if it is inside the bracket; nothing where it is not, or too many others are.
template <class A, Scalar T>
std::optional<cutoff<T>> find_inside(std::span<T const> x, std::size_t k, bracket<T> b, std::span<T> room) {
    auto const most = x.size() / 2 - 4 * word_bits;
    T const below_low = next_below(b.low), below_high = next_below(b.high);
    std::size_t above = 0, from_high = 0, above_low = 0, from_low = 0, inside = 0;
    for_each_word(x, [&](T const* p, std::uint64_t real, std::size_t) {
        auto const count = [](std::uint64_t bits) { return static_cast<std::size_t>(std::popcount(bits)); };
        auto const from_high_on = bits_above<A>(p, below_high) & real, over_low = bits_above<A>(p, b.low) & real;
        above += count(bits_above<A>(p, b.high) & real);
        from_high += count(from_high_on);
        above_low += count(over_low);
        from_low += count(bits_above<A>(p, below_low) & real);
        if (inside <= most) inside += write_chosen<A>(over_low & ~from_high_on, p, room.data() + inside);
        return true;
    });
    if (k <= above || k > from_low) return {};
    if (k <= from_high) return cutoff<T>{b.high, k - above};
    if (k > above_low) return cutoff<T>{b.low, k - above_low};
    if (inside > most) return {};
    return kth_largest<A>(std::span<T const>(room.first(inside)), k - from_high, room.subspan(inside + list_margin));
}

/// 1 <= k <= x.size(), room.size() >= room_for(x.size()). A pass over x, mostly, and work on a small part of it.
template <class A, Scalar T>
cutoff<T> kth_largest(std::span<T const> x, std::size_t k, std::span<T> room) {
    if (x.size() >= worth_a_guess)
        for (std::uint32_t const spread : {first_spread, second_spread}) {
            auto const b = guess_bracket<A>(x, k, spread, room);
            if (!(b.low <= b.high)) break;  // one is NaN
            if (auto const found = find_inside<A>(x, k, b, room)) return *found;
        }
    auto const all = room.first(x.size());
    std::copy(x.begin(), x.end(), all.begin());
    auto const kth = all.begin() + static_cast<std::ptrdiff_t>(k - 1);
    std::nth_element(all.begin(), kth, all.end(), [](T a, T b) { return magnitude_bits(a) > magnitude_bits(b); });
    auto const same = [&](T v) { return magnitude_bits(v) == magnitude_bits(*kth); };
    return {std::abs(*kth), static_cast<std::size_t>(std::count_if(all.begin(), kth + 1, same))};
}

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

// How many |x_i| are above the bound, as magnitude_bits has them, NaNs too; or some number from `enough` on.
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
