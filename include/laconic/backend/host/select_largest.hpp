// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <vector>

#include "laconic/backend/host/memory.hpp"
#include "laconic/core/contract.hpp"
#include "laconic/core/term.hpp"
#include "laconic/core/view.hpp"

namespace laconic {

namespace detail {

// |x| as an integer with the same order; every NaN is above infinity.
inline std::uint32_t magnitude_bits(float x) { return std::bit_cast<std::uint32_t>(x) & 0x7fffffffu; }
inline std::uint64_t magnitude_bits(double x) { return std::bit_cast<std::uint64_t>(x) & 0x7fffffffffffffffu; }

// How long a vector is from which a guess pays, and at how many of its numbers the guess looks.
inline constexpr std::size_t worth_a_guess = std::size_t{1} << 15, most_samples = std::size_t{1} << 15;

// Of the coordinates at(0) < at(1) < .., as many as there are `magnitudes`, those with the k largest |x_i|. `out` may
// be what at() reads.
template <class Bits, Scalar T, class At>
void keep_largest_of(std::span<T const> x, At at, std::span<Bits> magnitudes, std::size_t k,
                     std::vector<coordinate>& out) {
    for (std::size_t j = 0; j < magnitudes.size(); ++j) magnitudes[j] = magnitude_bits(x[at(j)]);
    auto const kth = magnitudes.begin() + static_cast<std::ptrdiff_t>(k - 1);
    std::nth_element(magnitudes.begin(), kth, magnitudes.end(), std::greater<>{});
    Bits const threshold = *kth;
    auto equal = static_cast<std::size_t>(std::count(magnitudes.begin(), kth + 1, threshold));
    std::size_t n = 0;
    for (std::size_t j = 0; n < k; ++j) {
        coordinate const i = at(j);
        Bits const m = magnitude_bits(x[i]);
        bool const chosen = m > threshold || (m == threshold && equal > 0);
        equal -= m == threshold && equal > 0;
        if (chosen) out[n++] = i;
    }
    out.resize(k);
}

// A number that a few more than k magnitudes are above, if a sample of them tells the truth; NaN where it tells
// nothing.
template <class Bits, Scalar T>
T guess_threshold(std::span<T const> x, std::size_t k, std::span<Bits> samples) {
    std::size_t const stride = x.size() / samples.size();
    for (std::size_t j = 0; j < samples.size(); ++j)  // unevenly far apart: x may have a period
        samples[j] = magnitude_bits(x[j * stride + (j * 0x9E3779B9u >> 8) % stride]);
    double const expected = static_cast<double>(k) / static_cast<double>(stride);
    auto const rank = static_cast<std::size_t>(expected + 4 * std::sqrt(expected) + 4);
    if (rank >= samples.size()) return std::numeric_limits<T>::quiet_NaN();
    auto const guess = samples.begin() + static_cast<std::ptrdiff_t>(rank);
    std::nth_element(samples.begin(), guess, samples.end(), std::greater<>{});
    return *guess == 0 ? std::numeric_limits<T>::quiet_NaN() : std::bit_cast<T>(*guess - 1);  // the next smaller one
}

// The coordinates with |x_i| > bound, a NaN among them, where there are no more than `most`; else more than that many,
// and not all.
template <class A, Scalar T>
std::size_t select_some_above(std::span<T const> x, T bound, std::size_t most, std::vector<coordinate>& out) {
    using pack = simd::pack<T, A>;
    auto const bounds = pack::all(bound);
    std::size_t n = 0, i = 0;
    out.resize(most + pack::width + 1);
    auto const take = [&](std::size_t first, std::size_t last) {
        for (std::size_t j = first; j < last; ++j) {
            out[n] = static_cast<coordinate>(j);
            n += !(std::abs(x[j]) <= bound);
        }
    };
    for (; i + pack::width <= x.size() && n <= most; i += pack::width)
        if (!all_at_most(magnitude(pack::load(x.data() + i)), bounds)) take(i, i + pack::width);
    if (n <= most) take(i, x.size());
    return n;
}

}  // namespace detail

/// The k coordinates with the largest |x_i|, of equal ones the lower coordinate first. k <= x.size() < 2^32.
/// Where x is long and k a small part: one pass that compares with a guess, and a selection among the few that are
/// above it. Else, and where the guess is bad: a copy of x in scratch memory, one selection in it, one pass.
template <class A, Scalar T>
void select_largest(basic_host<A>& on, std::span<T const> x, std::size_t k, std::vector<coordinate>& out) {
    LACONIC_EXPECTS(k <= x.size() && x.size() <= largest_dimension);
    out.resize(k);
    if (k == 0) return;
    using bits = decltype(detail::magnitude_bits(T{}));
    auto const magnitudes = on.template scratch<bits>(0, x.size());
    std::size_t const samples = std::min(detail::most_samples, x.size() / 16);
    if (std::size_t const most = samples == 0 ? 0 : 2 * k + 64 * (x.size() / samples);
        x.size() >= detail::worth_a_guess && most < x.size() / 2) {
        out.reserve(most + simd::pack<T, A>::width + 1);  // once: a later guess may be better
        if (T const bound = detail::guess_threshold(x, k, magnitudes.first(samples)); std::isfinite(bound)) {
            auto const n = detail::select_some_above<A>(x, bound, most, out);
            if (k <= n && n <= most)
                return detail::keep_largest_of(
                    x, [&](std::size_t j) { return out[j]; }, magnitudes.first(n), k, out);
        }
        out.resize(k);
    }
    detail::keep_largest_of(
        x, [](std::size_t j) { return static_cast<coordinate>(j); }, magnitudes, k, out);
}

}  // namespace laconic
