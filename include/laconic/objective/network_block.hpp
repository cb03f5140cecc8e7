// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

#include "laconic/objective/shared_rows.hpp"

namespace laconic {

namespace detail {

/// out += a b, without an allocation: in tiles, for which Eigen packs its operands on the stack.
template <class Out, class A, class B>
void add_product(Out&& out, A const& a, B const& b) {
    LACONIC_EXPECTS(out.rows() == a.rows() && out.cols() == b.cols() && a.cols() == b.rows());
    using number = typename std::remove_cvref_t<Out>::Scalar;
    constexpr Eigen::Index depth = 256, side = 128 * 1024 / (depth * sizeof(number));
    for (Eigen::Index k = 0; k < a.cols(); k += depth)
        for (Eigen::Index i = 0; i < out.rows(); i += side)
            for (Eigen::Index j = 0; j < out.cols(); j += side) {
                auto const m = std::min(side, out.rows() - i), n = std::min(side, out.cols() - j);
                auto const inner = std::min(depth, a.cols() - k);
                out.block(i, j, m, n).noalias() += a.block(i, k, m, inner) * b.block(k, j, inner, n);
            }
}

/// n numbers of `room`, which grows where it must, at an address that is a multiple of 64: Eigen's rounding depends on
/// the alignment of its operands.
template <class T>
std::span<T> aligned(std::vector<T>& room, std::size_t n) {
    constexpr std::size_t line = 64 / sizeof(T);
    if (room.size() < n + line) room.resize(n + line);
    auto const past = reinterpret_cast<std::uintptr_t>(room.data()) / sizeof(T) % line;
    return std::span(room).subspan(past == 0 ? 0 : line - past, n);
}

// A copy of x at such an address.
template <class T>
std::span<T const> aligned_copy(std::vector<T>& room, std::span<T const> x) {
    auto const there = aligned(room, x.size());
    std::copy(x.begin(), x.end(), there.begin());
    return there;
}

}  // namespace detail

/// The place of a matrix in a vector: `rows` rows of `columns` numbers, row after row, from `offset` on.
struct matrix_block {
    std::size_t offset = 0, rows = 0, columns = 0;

    std::size_t size() const { return rows * columns; }
    /// The index in the vector of row i and column j.
    std::size_t at(std::size_t i, std::size_t j) const { return offset + i * columns + j; }
    bool operator==(matrix_block const&) const = default;
};

namespace detail {

/// Rows of the data that a network processes together, in scratch memory of count width_of(layers) numbers: for each
/// layer what goes into it, and, except for the data, the slopes in that; then the outputs.
template <Scalar T>
struct network_block {
    using matrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

    std::span<matrix_block const> layers;
    T* memory;
    row_choice rows;
    std::size_t begin, count;

    /// The numbers for one row.
    static std::size_t width_of(std::span<matrix_block const> layers) {
        std::size_t sum = layers.front().columns + layers.back().rows;
        for (auto const& m : layers.subspan(1)) sum += 2 * m.columns;
        return sum;
    }

    std::size_t row(std::size_t r) const { return rows[begin + r]; }
    /// What goes into layer l, count x inputs, and the slopes in it; into(the number of layers) are the outputs.
    auto into(std::size_t l) const { return at(l, 0); }
    auto slopes_into(std::size_t l) const { return at(l, width(l)); }
    auto last() const { return into(layers.size()); }
    std::span<T> outputs_of(std::size_t r) const {
        auto all = last();
        auto const k = static_cast<std::size_t>(all.cols());
        return {all.data() + r * k, k};
    }

  private:
    std::size_t width(std::size_t l) const { return l < layers.size() ? layers[l].columns : layers.back().rows; }
    Eigen::Map<matrix> at(std::size_t l, std::size_t behind) const {
        for (std::size_t i = 0; i < l; ++i) behind += (i == 0 ? 1 : 2) * width(i);
        return {memory + count * behind, static_cast<Eigen::Index>(count), static_cast<Eigen::Index>(width(l))};
    }
};

}  // namespace detail

}  // namespace laconic
