// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <tuple>

#include "laconic/message/message.hpp"

namespace laconic::messages {

/// A matrix, row after row, as the product of `rank` columns with the transpose of as many others; each factor stores
/// its columns one after another. Number (i, j) of rows x cols() is sum_c left_{c rows + i} right_{c cols() + j}, in
/// the order of c, in double with one rounding for each summand, then rounded to T.
template <Scalar T, class B>
struct factors {
    using value_type = T;
    template <class Other>
    using for_backend = factors<T, Other>;
    std::size_t count = 0, rows = 1, rank = 0;  ///< count = rows cols(), else no reader accepts it
    typename B::template array<T> left, right;

    std::size_t cols() const { return rows == 0 ? 0 : count / rows; }
    bool tall() const { return rows >= cols(); }

    /// The factor of the matrix's longer side (the left one where both are equal), and the other one.
    auto& longer() { return tall() ? left : right; }
    auto& shorter() { return tall() ? right : left; }
    auto const& shorter() const { return tall() ? right : left; }

    struct terms_type {
        T const *left, *right;
        std::size_t count, rows, cols, rank;
        static constexpr bool in_order = true;
        constexpr std::size_t size() const { return count; }
        constexpr term<T> operator[](std::size_t j) const {
            double sum = 0;
            // Rounded once, so that it is the same with and without fused products.
            for (std::size_t c = 0; c < rank; ++c)
                sum = std::fma(static_cast<double>(left[c * rows + j / cols]),
                               static_cast<double>(right[c * cols + j % cols]), sum);
            return {static_cast<coordinate>(j), static_cast<T>(sum)};
        }
    };

    static auto fields(auto& m) { return std::tie(m.count, m.rows, m.rank, m.left, m.right); }
    std::size_t dimension() const { return count; }
    bool fits(std::size_t n) const {
        return count == n && rows > 0 && rows * cols() == n && rank <= std::min(rows, cols()) &&
               left.size() == rank * rows && right.size() == rank * cols();
    }
    terms_type terms() const& { return {left.data(), right.data(), count, rows, cols(), rank}; }
    void terms() const&& = delete;
    bool operator==(factors const&) const = default;
};

/// Whether a product of factors with such largest magnitudes has finite numbers only: twice `rank` times their product
/// is in the range of T, which leaves room for the roundings. False where the product is NaN.
template <Scalar T>
bool product_is_finite(T largest_left, T largest_right, std::size_t rank) {
    return static_cast<double>(largest_left) * static_cast<double>(largest_right) * (2 * static_cast<double>(rank)) <=
           static_cast<double>(std::numeric_limits<T>::max());
}

}  // namespace laconic::messages
