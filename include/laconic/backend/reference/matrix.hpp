// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "laconic/backend/arguments.hpp"
#include "laconic/backend/reference/memory.hpp"
#include "laconic/backend/reference/reduce.hpp"
#include "laconic/backend/scales.hpp"
#include "laconic/core/key.hpp"
#include "laconic/core/view.hpp"

namespace laconic::detail {

// The sum of n products a(i) b(i), each rounded.
template <class F, class G>
double reference_dot(reference& on, std::size_t n, F a, G b) {
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
void draw_symmetric(reference&, key from, std::uint64_t first, std::span<T> out) {
    for (std::size_t i = 0; i < out.size(); ++i) {
        int const width = sizeof(T) == 4 ? 24 : 53;
        std::uint64_t const n = sizeof(T) == 4 ? from.word(first + i) >> 8 : from.long_word(first + i) >> 11;
        auto const odd = static_cast<std::int64_t>(2 * n + 1) - (std::int64_t{1} << width);
        out[i] = static_cast<T>(std::ldexp(static_cast<double>(odd), -width));
    }
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
                for (std::size_t i = 0; i < n; ++i) {
                    double part = overlap * earlier[i];
                    simd::settle(part);
                    column[i] -= part;
                }
            }
        double const after = length();
        for (double& v : column) v = after > 0x1p-40 * before ? v / after : 0;
    }
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = static_cast<T>(y[i]);
}

}  // namespace laconic::kernels
