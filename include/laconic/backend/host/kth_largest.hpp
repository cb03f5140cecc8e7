// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
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

/// How many |x_i| are above the bound, as magnitude_bits has them, NaNs too.
template <class A, Scalar T>
std::size_t count_above(std::span<T const> x, T bound) {
    if (std::isnan(bound))
        return static_cast<std::size_t>(
            std::count_if(x.begin(), x.end(), [bound](T v) { return magnitude_bits(v) > magnitude_bits(bound); }));
    std::size_t n = 0;
    for_each_word(x, [&](T const* p, std::uint64_t real, std::size_t) {
        n += static_cast<std::size_t>(std::popcount(bits_above<A>(p, bound) & real));
        return true;
    });
    return n;
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

/// Some of many numbers, from which the k-th largest of all is guessed.
template <class A, Scalar T>
class samples {
  public:
    /// Of the d numbers x(0), x(1), .., at other places for another `spread`.
    samples(std::size_t d, auto const& x, std::size_t k, std::uint32_t spread, std::span<T> room) {
        auto const n = std::clamp(d / 256, std::min(d / 16, std::size_t{1024}), most_samples);
        auto const taken = room.first(n);
        std::uint64_t const stride = d / n;
        for (std::uint32_t j = 0; j < n; ++j)  // unevenly far apart: they may have a period
            taken[j] = x(j * stride + (std::uint64_t{j * spread} * stride >> 32));
        double const share = static_cast<double>(k) / static_cast<double>(d), count = static_cast<double>(n);
        taken_ = taken;
        room_ = room.subspan(n);
        rank_ = count * share;
        margin_ = 4 * std::sqrt(rank_ * (1 - share)) + 4;  // one in 30 000 is farther off
    }
    samples(std::span<T const> x, std::size_t k, std::uint32_t spread, std::span<T> room)
        : samples(
              x.size(), [x](std::size_t i) { return x[i]; }, k, spread, room) {}

    /// Most probably at most the k-th largest of all; NaN where the samples do not suffice.
    T low() const { return rank_ + margin_ < static_cast<double>(taken_.size()) ? at(rank_ + margin_) : T(0); }
    /// Most probably at least that.
    T high() const { return rank_ - margin_ >= 1 ? at(rank_ - margin_) : std::numeric_limits<T>::infinity(); }

  private:
    T at(double rank) const { return kth_largest<A>(taken_, static_cast<std::size_t>(rank), room_).value; }

    std::span<T const> taken_;
    std::span<T> room_;
    double rank_, margin_;  // of the k-th largest of all, among the samples
};

/// The k-th largest of numbers that may be put in another order.
template <Scalar T>
cutoff<T> kth_by_sorting(std::span<T> all, std::size_t k) {
    auto const kth = all.begin() + static_cast<std::ptrdiff_t>(k - 1);
    std::nth_element(all.begin(), kth, all.end(), [](T a, T b) { return magnitude_bits(a) > magnitude_bits(b); });
    auto const same = [&](T v) { return magnitude_bits(v) == magnitude_bits(*kth); };
    return {std::abs(*kth), static_cast<std::size_t>(std::count_if(all.begin(), kth + 1, same))};
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

/// Of a few: takes those that are larger than one of them, or smaller, until hardly any are left.
template <class A, Scalar T>
cutoff<T> kth_of_few(std::span<T const> x, std::size_t k) {
    LACONIC_EXPECTS(x.size() < worth_a_guess);
    std::array<std::array<T, worth_a_guess + list_margin>, 2> rooms;
    for (std::size_t room = 0; x.size() > word_bits; room ^= 1) {
        std::array<T, 16> some;
        for (std::size_t j = 0; j < some.size(); ++j) some[j] = std::abs(x[(2 * j + 1) * x.size() / (2 * some.size())]);
        std::sort(some.begin(), some.end(), [](T a, T b) { return magnitude_bits(a) > magnitude_bits(b); });
        T const pivot = some[k * (some.size() - 1) / x.size()];
        if (std::isnan(pivot)) break;
        T const below = next_below(pivot);
        std::size_t const above = count_above<A>(x, pivot), from = count_above<A>(x, below);
        if (above < k && k <= from) return {pivot, k - above};
        T const bound = k <= above ? pivot : below;
        std::uint64_t const flip = k <= above ? 0 : ~std::uint64_t{0};
        std::size_t n = 0;
        for_each_word(x, [&](T const* p, std::uint64_t real, std::size_t) {
            n += write_chosen<A>((bits_above<A>(p, bound) ^ flip) & real, p, rooms[room].data() + n);
            return true;
        });
        if (k > above) k -= from;
        x = std::span<T const>(rooms[room]).first(n);
    }
    auto const all = std::span(rooms[0]).first(x.size());
    if (x.data() != all.data()) std::copy(x.begin(), x.end(), all.begin());
    return kth_by_sorting(all, k);
}

/// 1 <= k <= x.size(), room.size() >= room_for(x.size()). A pass over x, mostly, and work on a small part of it.
template <class A, Scalar T>
cutoff<T> kth_largest(std::span<T const> x, std::size_t k, std::span<T> room) {
    if (x.size() < worth_a_guess) return kth_of_few<A>(x, k);
    for (std::uint32_t const spread : {first_spread, second_spread}) {
        samples<A, T> const some(x, k, spread, room);
        bracket<T> const b{some.low(), some.high()};
        if (!(b.low <= b.high)) break;  // one is NaN
        if (auto const found = find_inside<A>(x, k, b, room)) return *found;
    }
    auto const all = room.first(x.size());
    std::copy(x.begin(), x.end(), all.begin());
    return kth_by_sorting(all, k);
}

}  // namespace laconic::detail
