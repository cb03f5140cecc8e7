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

#include "laconic/backend/host/impl/positions.hpp"
#include "laconic/backend/host/memory.hpp"
#include "laconic/backend/scales.hpp"

/// The k-th largest of many magnitudes, without sorting them: a sample bounds it by two numbers, one pass counts what
/// is above and takes what is between, and there it is looked for in the same way.
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

/// Guesses it from samples of the d numbers x(0), x(1), .., at other places for another `spread`; NaN where they do not
/// suffice.
template <class A, Scalar T>
bracket<T> guess_bracket(std::size_t d, auto const& x, std::size_t k, std::uint32_t spread, std::span<T> room) {
    auto const n = std::min(most_samples, d / 16);
    auto const samples = room.first(n), more_room = room.subspan(n);
    std::uint64_t const stride = d / n;
    for (std::uint32_t j = 0; j < n; ++j)  // unevenly far apart: they may have a period
        samples[j] = x(j * stride + (std::uint64_t{j * spread} * stride >> 32));
    double const share = static_cast<double>(k) / static_cast<double>(d), count = static_cast<double>(n);
    double const margin = 4 * std::sqrt(count * share * (1 - share)) + 4;  // one in 30 000 is farther off
    auto const at_rank = [&](double rank) {
        return kth_largest<A>(std::span<T const>(samples), static_cast<std::size_t>(rank), more_room).value;
    };
    return {.low = count * share + margin < count ? at_rank(count * share + margin) : T(0),
            .high = count * share - margin >= 1 ? at_rank(count * share - margin) : std::numeric_limits<T>::infinity()};
}
template <class A, Scalar T>
bracket<T> guess_bracket(std::span<T const> x, std::size_t k, std::uint32_t spread, std::span<T> room) {
    return guess_bracket<A>(
        x.size(), [x](std::size_t i) { return x[i]; }, k, spread, room);
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

}  // namespace laconic::detail
