// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "laconic/backend/array.hpp"
#include "laconic/backend/scales.hpp"
#include "laconic/backend/settle.hpp"
#include "laconic/backend/sum_order.hpp"

namespace laconic::kernels {

/// Plain loops, one a kernel, each the shortest that defines its result: the definition that the other backends
/// are tested against. Slow. Each kernel's contract stands at its host form. One object per rank, not shared by
/// threads.
struct reference {
    template <class T>
    using array = std::vector<T>;

    /// What kernels put aside within one call; kept, so that from the second call on nothing is allocated.
    struct {
        std::vector<coordinate> order;
        std::vector<bool> drawn;
        std::vector<std::uint64_t> grid;
        std::vector<double> block, energies, products, matrix;
    } scratch;
};

template <class E>
void copy(reference&, std::span<E const> from, std::span<E> to) {
    std::copy(from.begin(), from.end(), to.begin());
}
template <class E>
void fill(reference&, std::span<E> to, E value) {
    std::fill(to.begin(), to.end(), value);
}

}  // namespace laconic::kernels

namespace laconic {

using kernels::reference;

}  // namespace laconic

/// Numbers about vectors, sums of vectors, and products of a matrix with a few columns.
namespace laconic::detail {

template <Scalar Sum = double, Scalar T, class F>
double reference_sum(std::span<T const> x, F summand) {
    return sum_in_order(0, x.size(), [&](std::size_t first, std::size_t n) {
        std::array<Sum, partial_sums> s{};
        for (std::size_t i = 0; i < n; ++i) {
            Sum v = summand(static_cast<Sum>(x[first + i]));
            simd::settle(v);  // the summand is rounded before it is added
            s[i % partial_sums] += v;
        }
        return static_cast<double>(add_in_halves<reference>(s));
    });
}

// The sum of n products a(i) b(i), each rounded.
double reference_dot(reference& on, std::size_t n, auto a, auto b) {
    auto& products = on.scratch.products;
    products.clear();
    for (std::size_t i = 0; i < n; ++i) products.push_back(static_cast<double>(a(i)) * static_cast<double>(b(i)));
    return reference_sum(std::span<double const>(products), [](double v) { return v; });
}

// X by, or X' by, with n numbers in a column, in scratch memory.
template <Scalar T>
std::vector<double>& reference_product(reference& on, std::span<T const> x, kernels::matrix_is how,
                                       std::span<T const> by, std::size_t columns, std::size_t n) {
    std::size_t const summands = by.size() / columns;
    auto& y = on.scratch.matrix;
    y.clear();
    for (std::size_t c = 0; c < columns; ++c)
        for (std::size_t i = 0; i < n; ++i)
            y.push_back(reference_dot(
                on, summands,
                [&](std::size_t s) { return x[how == kernels::matrix_is::transposed ? s * n + i : i * summands + s]; },
                [&](std::size_t s) { return by[c * summands + s]; }));
    return y;
}

}  // namespace laconic::detail

namespace laconic::kernels {

template <Scalar T>
double sum_of_magnitudes(reference&, std::span<T const> x) {
    return detail::reference_sum(x, [](double v) { return std::abs(v); });
}
template <Scalar T>
double sum_of_squares(reference&, std::span<T const> x) {
    return detail::reference_sum(x, [](double v) { return v * v; });
}
inline double sum_of_squares_in_floats(reference&, std::span<float const> x) {
    return detail::reference_sum<float>(x, [](float v) { return v * v; });
}
template <Scalar T>
double sum_of_squares(reference&, std::span<T const> x, double scale, double centre = 0) {
    return detail::reference_sum(x, [=](double v) { return (v / scale - centre) * (v / scale - centre); });
}
template <Scalar T>
double sum_of_numbers(reference&, std::span<T const> x, double scale, double centre) {
    return detail::reference_sum(x, [=](double v) { return v / scale - centre; });
}
template <Scalar T>
T largest_magnitude(reference&, std::span<T const> x) {
    T largest = 0;
    for (T const v : x) {
        if (!std::isfinite(v)) return std::numeric_limits<T>::quiet_NaN();
        largest = std::max(largest, std::abs(v));
    }
    return largest;
}
template <Scalar T>
std::pair<T, T> least_and_largest(reference&, std::span<T const> x) {
    T const none = std::numeric_limits<T>::quiet_NaN();
    if (!std::all_of(x.begin(), x.end(), [](T v) { return std::isfinite(v); })) return {none, none};
    auto const [least, largest] = std::minmax_element(x.begin(), x.end());
    return {*least + T(0), *largest + T(0)};
}
template <Scalar T>
std::pair<double, double> sums_by_sign(reference&, std::span<T const> x) {
    return {detail::reference_sum(x, [](double v) { return v < 0 ? -v : 0; }),
            detail::reference_sum(x, [](double v) { return v < 0 ? 0 : v; })};
}
template <Scalar T>
std::size_t count_negative(reference&, std::span<T const> x) {
    return static_cast<std::size_t>(std::count_if(x.begin(), x.end(), [](T v) { return v < 0; }));
}
template <Scalar T>
std::size_t first_non_finite(reference&, std::span<T const> x) {
    return static_cast<std::size_t>(std::find_if(x.begin(), x.end(), [](T v) { return !std::isfinite(v); }) -
                                    x.begin());
}

template <Scalar T>
double rounding_variance(reference&, std::span<T const> x, T step) {
    return detail::reference_sum(x, [step](double v) {
        double const on_grid = std::abs(v) / static_cast<double>(step), below = on_grid - std::floor(on_grid);
        double const r = std::min(below, 1 - below);  // the one that is exact
        return r * (1 - r);
    });
}

template <class F>
void at_each_index(reference&, std::size_t n, F f) {
    for (std::size_t i = 0; i < n; ++i) f(i);
}
template <Scalar T>
void add_scaled(reference&, T a, std::span<T const> x, std::span<T> y) {
    for (std::size_t i = 0; i < x.size(); ++i) y[i] += simd::rounded_product(a, x[i]);
}
template <Scalar T>
void multiply(reference&, T a, std::span<T> x) {
    for (T& v : x) v *= a;
}
template <Scalar T>
bool compensate(reference&, T a, std::span<T const> g, std::span<T const> h, T b, std::span<T const> e,
                std::span<T> out) {
    bool finite = true;
    for (std::size_t i = 0; i < g.size(); ++i) {
        out[i] = simd::rounded_product(a, g[i]);
        if (!h.empty()) out[i] -= h[i];
        if (!e.empty()) out[i] += simd::rounded_product(b, e[i]);
        finite = finite && std::isfinite(out[i]);
    }
    return finite;
}
template <Scalar T>
void complete_and_remember(reference&, std::span<T> m, T a, std::span<T> h) {
    for (std::size_t i = 0; i < m.size(); ++i) {
        T const sent = m[i];
        m[i] += h[i];
        h[i] += simd::rounded_product(a, sent);
    }
}
template <Scalar T, class Terms>
void add_terms(reference&, std::span<T> out, T w, Terms terms) {
    for (std::size_t j = 0; j < terms.size(); ++j)
        out[terms[j].at] += simd::rounded_product(w, static_cast<T>(terms[j].value));
}

template <Scalar T>
void raise_magnitudes(reference&, T least, T factor, std::span<T> y) {
    for (T& v : y) v = std::copysign(std::max(std::abs(v), least), v) * factor;
}

template <Scalar T>
void soft_threshold(reference&, T by, std::span<T> x) {
    for (T& v : x) v = std::abs(v) > by ? std::copysign(std::abs(v) - by, v) : T(0);
}

template <Scalar T, class Terms>
void clear_terms(reference&, std::span<T> out, Terms terms) {
    for (std::size_t j = 0; j < terms.size(); ++j)
        if (static_cast<T>(terms[j].value) != 0) out[terms[j].at] = 0;
}
template <Scalar T>
void scatter(reference&, std::span<T const> values, std::span<coordinate const> at, std::size_t unit,
             std::span<T> out) {
    std::size_t next = 0;
    for (coordinate const u : at)
        for (std::size_t i = u * unit; i < std::min(out.size(), (u + 1) * unit); ++i) out[i] = values[next++];
}

template <Scalar T>
void draw_symmetric(reference&, key from, std::uint64_t first, std::span<T> out) {
    for (std::size_t i = 0; i < out.size(); ++i) {
        int const width = sizeof(T) == 4 ? 24 : 53;
        std::uint64_t const n = sizeof(T) == 4 ? from.word(first + i) >> 8 : from.long_word(first + i) >> 11;
        auto const odd = static_cast<std::int64_t>(2 * n + 1) - (std::int64_t{1} << width);
        out[i] = static_cast<T>(std::ldexp(static_cast<double>(odd), -width));
    }
}
template <Scalar T>
void rotate_blocks(reference&, std::size_t block, matrix_is how, key from, std::uint64_t first, std::span<T> y) {
    auto const sign = [&](std::size_t i) { return detail::negative_sign(from, first + i) ? T(-1) : T(1); };
    for (std::size_t i = 0; i < y.size(); ++i) {
        y[i] = simd::rounded_product(y[i], static_cast<T>(1 / std::sqrt(static_cast<double>(block))));
        if (how == matrix_is::as_it_stands) y[i] *= sign(i);
    }
    for (std::size_t h = 1; h < block; h *= 2)
        for (std::size_t i = 0; i < y.size(); ++i)
            if ((i & h) == 0) {
                T const a = y[i], b = y[i + h];
                y[i] = a + b;
                y[i + h] = a - b;
            }
    for (std::size_t i = 0; i < y.size() && how == matrix_is::transposed; ++i) y[i] *= sign(i);
}
template <Scalar T>
void multiply_matrix(reference& on, std::span<T const> x, matrix_is how, std::span<T const> by, std::size_t columns,
                     std::span<T> out) {
    auto const& y = detail::reference_product(on, x, how, by, columns, out.size() / columns);
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = static_cast<T>(y[i]);
}
template <Scalar T>
void multiply_to_orthonormal(reference& on, std::span<T const> x, matrix_is how, std::span<T const> by,
                             std::size_t columns, std::span<T> out) {
    std::size_t const n = out.size() / columns;
    auto& y = detail::reference_product(on, x, how, by, columns, n);
    for (std::size_t c = 0; c < columns; ++c) {
        std::span<double> const column = std::span(y).subspan(c * n, n);
        auto const length = [&] { return std::sqrt(sum_of_squares(on, std::span<double const>(column))); };
        double const scale = unit_scale(largest_magnitude(on, std::span<double const>(column)));
        for (double& v : column) v *= scale;
        double const before = length();
        for (int pass = 0; pass < 2; ++pass)
            for (std::size_t b = 0; b < c; ++b) {
                double const* const earlier = y.data() + b * n;
                double const overlap = detail::reference_dot(
                    on, n, [&](std::size_t i) { return earlier[i]; }, [&](std::size_t i) { return column[i]; });
                for (std::size_t i = 0; i < n; ++i) column[i] -= simd::rounded_product(overlap, earlier[i]);
            }
        double const after = length();
        for (double& v : column) v = after > 0x1p-40 * before ? v / after : 0;
    }
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = static_cast<T>(y[i]);
}

}  // namespace laconic::kernels
