// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <numbers>
#include <span>
#include <string_view>

#include "laconic/core/view.hpp"

/// Symmetric matrices as vectors whose norm is the matrix's Frobenius norm. A matrix is anything with m(i, j), i and j
/// from 0.
namespace laconic {

/// How a symmetric matrix of d x d becomes a vector.
enum class symmetric_as {
    triangle,  ///< d (d + 1) / 2 numbers: the lower triangle row after row, those beside the diagonal times sqrt 2
    whole      ///< d^2 numbers, row after row
};

constexpr std::array<std::string_view, 2> words_of(symmetric_as) { return {"triangle", "whole"}; }

/// The number of numbers.
constexpr std::size_t symmetric_size(symmetric_as how, std::size_t d) {
    return how == symmetric_as::whole ? d * d : d * (d + 1) / 2;
}
/// out <- m, of d x d. Reads the lower triangle.
template <class Matrix, Scalar T>
void pack_symmetric(symmetric_as how, std::size_t d, Matrix const& m, std::span<T> out) {
    LACONIC_EXPECTS(out.size() == symmetric_size(how, d));
    auto const at = [&](std::size_t i, std::size_t j) {
        return static_cast<double>(m(static_cast<std::ptrdiff_t>(i), static_cast<std::ptrdiff_t>(j)));
    };
    for (std::size_t i = 0, k = 0; i < d; ++i)
        if (how == symmetric_as::whole)
            for (std::size_t j = 0; j < d; ++j) out[k++] = static_cast<T>(j <= i ? at(i, j) : at(j, i));
        else
            for (std::size_t j = 0; j <= i; ++j)
                out[k++] = static_cast<T>(j == i ? at(i, i) : std::numbers::sqrt2 * at(i, j));
}
/// m <- the symmetric matrix of d x d nearest to v, both triangles; m is of that size.
template <Scalar T, class Matrix>
void unpack_symmetric(symmetric_as how, std::size_t d, std::span<T const> v, Matrix& m) {
    LACONIC_EXPECTS(v.size() == symmetric_size(how, d));
    for (std::size_t i = 0, k = 0; i < d; ++i)
        for (std::size_t j = 0; j <= i; ++j, ++k) {
            double const value = how == symmetric_as::whole ? (double(v[i * d + j]) + double(v[j * d + i])) / 2
                                 : i == j                   ? double(v[k])
                                                            : double(v[k]) / std::numbers::sqrt2;
            m(static_cast<std::ptrdiff_t>(i), static_cast<std::ptrdiff_t>(j)) = value;
            m(static_cast<std::ptrdiff_t>(j), static_cast<std::ptrdiff_t>(i)) = value;
        }
}

}  // namespace laconic
