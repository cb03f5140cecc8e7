// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <span>
#include <vector>

#include "laconic/backend/backend.hpp"
#include "laconic/backend/host/simd.hpp"
#include "laconic/core/key.hpp"
#include "laconic/core/term.hpp"
#include "laconic/core/view.hpp"

namespace laconic {

/// Plain loops, one a kernel, each the shortest that says what its result is: the definition that the other backends
/// are tested against. Slow, and allocates as it likes. Each kernel's contract stands at its host form.
struct reference {
    template <class T>
    using array = std::vector<T>;
};

namespace detail {

template <Scalar T, class F>
double reference_sum(std::span<T const> x, F summand) {
    std::array<double, 16> s{};
    for (std::size_t i = 0; i < x.size(); ++i) {
        double v = summand(static_cast<double>(x[i]));
        simd::settle(v);  // the summand is rounded before it is added
        s[i % 16] += v;
    }
    for (std::size_t n = 8; n > 0; n /= 2)
        for (std::size_t j = 0; j < n; ++j) s[j] += s[j + n];
    return s[0];
}

}  // namespace detail

template <Scalar T>
double sum_of_magnitudes(reference&, std::span<T const> x) {
    return detail::reference_sum(x, [](double v) { return std::abs(v); });
}
template <Scalar T>
double sum_of_squares(reference&, std::span<T const> x) {
    return detail::reference_sum(x, [](double v) { return v * v; });
}
inline double sum_of_squares(reference&, std::span<double const> x, double scale) {
    return detail::reference_sum(x, [scale](double v) { return (v / scale) * (v / scale); });
}
template <Scalar T>
T largest_magnitude(reference&, std::span<T const> x) {
    T largest = 0;
    for (T const v : x) largest = std::max(largest, std::abs(v));
    return largest;
}
template <Scalar T>
std::size_t first_non_finite(reference&, std::span<T const> x) {
    return static_cast<std::size_t>(std::find_if(x.begin(), x.end(), [](T v) { return !std::isfinite(v); }) -
                                    x.begin());
}

template <Scalar T>
void select_largest(reference&, std::span<T const> x, std::size_t k, std::vector<coordinate>& out) {
    std::vector<coordinate> order(x.size());
    std::iota(order.begin(), order.end(), coordinate{0});
    // As integers, magnitudes have the same order, and a NaN is above infinity.
    using bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
    auto const magnitude = [&](coordinate i) { return std::bit_cast<bits>(std::abs(x[i])); };
    std::stable_sort(order.begin(), order.end(),
                     [&](coordinate a, coordinate b) { return magnitude(a) > magnitude(b); });
    order.resize(k);
    std::sort(order.begin(), order.end());
    out = order;
}
template <Scalar T>
void select_above(reference&, std::span<T const> x, T bound, std::vector<coordinate>& out) {
    out.clear();
    for (std::size_t i = 0; i < x.size(); ++i)
        if (std::abs(x[i]) > bound) out.push_back(static_cast<coordinate>(i));
}
template <Scalar T>
void select_above(reference&, std::span<T const> x, std::span<T const> bounds, std::vector<coordinate>& out) {
    out.clear();
    for (std::size_t i = 0; i < x.size(); ++i)
        if (std::abs(x[i]) > bounds[i]) out.push_back(static_cast<coordinate>(i));
}
inline void sample(reference&, key from, std::size_t d, std::size_t k, std::vector<coordinate>& out) {
    // The first min(k, d - k) different numbers of the stream: they are the sample, or what it leaves out.
    std::size_t const n = std::min(k, d - k);
    std::vector<bool> drawn(d);
    for (std::uint64_t i = 0, found = 0; found < n; ++i)
        if (auto const at = static_cast<std::size_t>(from.below(i, d)); !drawn[at]) drawn[at] = true, ++found;
    out.clear();
    for (std::size_t i = 0; i < d; ++i)
        if (drawn[i] == (k <= d / 2)) out.push_back(static_cast<coordinate>(i));
}
inline void sample_each(reference&, key from, std::size_t d, double p, std::vector<coordinate>& out) {
    out.clear();
    for (std::size_t i = 0; i < d; ++i)
        if (from.word(i) < std::floor(p * 0x1p32)) out.push_back(static_cast<coordinate>(i));
}
template <Scalar T>
void gather(reference&, std::span<T const> x, std::span<coordinate const> at, T scale, std::vector<T>& out) {
    out.clear();
    for (coordinate const i : at) out.push_back(scale * x[i]);
}

template <Scalar T>
void round_to_levels(reference&, std::span<T const> x, T step, int levels, key from, std::uint64_t first,
                     std::span<std::int16_t> codes) {
    for (std::size_t i = 0; i < x.size(); ++i) {
        T whole;
        T const fraction = std::modf(std::abs(x[i]) / step, &whole);
        bool const up = static_cast<double>(from.word(first + i)) / 0x1p32 < static_cast<double>(fraction);
        int const level = whole < T(levels) ? static_cast<int>(whole) + (up ? 1 : 0) : levels;
        codes[i] = static_cast<std::int16_t>(x[i] < 0 ? -level : level);
    }
}
template <Scalar T>
void round_to_powers(reference&, std::span<T const> x, key from, std::uint64_t first, std::span<std::uint16_t> codes) {
    constexpr int exponent_width = sizeof(T) == 4 ? 8 : 11;
    constexpr int least = std::numeric_limits<T>::min_exponent;  // of the smallest normal number, as frexp counts
    for (std::size_t i = 0; i < x.size(); ++i) {
        // |x| = (1 + m) 2^e, or m 2^e below the smallest normal number; up with probability m.
        int e = least;
        T const half = std::frexp(std::abs(x[i]), &e);
        bool const normal = std::abs(x[i]) >= std::numeric_limits<T>::min();
        double const m =
            normal ? 2 * static_cast<double>(half) - 1 : static_cast<double>(std::ldexp(std::abs(x[i]), 1 - least));
        int field = normal ? e - least + 1 : 0;
        if (static_cast<double>(from.word(first + i)) < std::floor(m * 0x1p32) && field < (1 << exponent_width) - 2)
            ++field;
        codes[i] = static_cast<std::uint16_t>((std::signbit(x[i]) ? 1 << exponent_width : 0) | field);
    }
}

template <Scalar T>
void pack_signs(reference&, std::span<T const> x, std::span<std::uint64_t> words) {
    std::fill(words.begin(), words.end(), std::uint64_t{0});
    for (std::size_t j = 0; j < x.size(); ++j)
        if (x[j] < 0) words[j / 64] |= std::uint64_t{1} << j % 64;
}

template <Scalar T>
void add_scaled(reference&, T a, std::span<T const> x, std::span<T> y) {
    for (std::size_t i = 0; i < x.size(); ++i) y[i] += a * x[i];
}
template <Scalar T>
void multiply(reference&, T a, std::span<T> x) {
    for (T& v : x) v *= a;
}
template <Scalar T>
void subtract_known_add_unsaid(reference&, std::span<T> g, std::span<T const> h, std::span<T const> e) {
    for (std::size_t i = 0; i < g.size(); ++i) {
        if (!h.empty()) g[i] -= h[i];
        if (!e.empty()) g[i] += e[i];
    }
}
template <Scalar T>
void complete_and_remember(reference&, std::span<T> m, T a, std::span<T> h) {
    for (std::size_t i = 0; i < m.size(); ++i) {
        T const said = m[i];
        m[i] += h[i];
        h[i] += a * said;
    }
}
template <Scalar T>
void scaled_distances(reference&, T a, std::span<T const> x, std::span<T const> y, std::span<T> bounds) {
    for (std::size_t i = 0; i < x.size(); ++i) bounds[i] = a * std::abs(x[i] - y[i]);
}
template <Scalar T, class Terms>
void add_terms(reference&, std::span<T> out, T w, Terms terms) {
    for (std::size_t j = 0; j < terms.size(); ++j) out[terms[j].at] += w * static_cast<T>(terms[j].value);
}

static_assert(Backend<reference, float> && Backend<reference, double>);

}  // namespace laconic
