// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <tuple>
#include <vector>

#include "laconic/backend/backend.hpp"
#include "laconic/message/message.hpp"

/// A cosine transform of a matrix in squares, and messages about what it makes.
namespace laconic::detail {

/// cos(pi m / (2 n)) to about 2^-52, the same bits on every machine: a mathematical library's need not be.
inline double cosine(std::uint64_t m, std::uint64_t n) {
    m %= 4 * n;
    m = std::min(m, 4 * n - m);
    double const sign = m > n ? -1 : 1;
    m = std::min(m, 2 * n - m);
    bool const is_sine = 2 * m > n;  // of what is left to a right angle
    double const x = 1.5707963267948966 * (static_cast<double>(is_sine ? n - m : m) / static_cast<double>(n));
    double const square = x * x;
    double sum = 0;
    for (int k = 18; k > 0; k -= 2) {  // Taylor's series up to pi / 4, from its end
        double const two = is_sine ? k * (k + 1) : k * (k - 1);
        sum = std::fma(-square / two, sum, -square / two);
    }
    return sign * (is_sine ? std::fma(x, sum, x) : 1 + sum);
}

/// The largest divisor of n up to `most` >= 1; 1 for n = 0.
inline std::size_t divisor_up_to(std::size_t most, std::size_t n) {
    std::size_t s = std::max<std::size_t>(std::min(most, n), 1);
    while (n % s != 0) --s;
    return s;
}

/// The orthonormal cosine transform (DCT-II) of the squares of a matrix. Their sides are the largest divisors of the
/// numbers of its rows and columns up to `side`; with one row, of pieces of the vector. The squares stand one after
/// another in what it makes, of each the columns. It keeps workspace, and what depends on the shape alone.
template <Scalar T, class B>
class square_cosines {
  public:
    /// Of d numbers in so many rows, which divide d.
    void prepare(B& on, std::size_t d, std::size_t rows, std::size_t side) {
        if (d == d_ && rows == rows_ && side == side_) return;
        std::size_t const columns = d / rows;
        across_ = divisor_up_to(side, columns), down_ = rows == 1 ? 1 : divisor_up_to(side, rows);
        fill_basis(on, across_, of_rows_), fill_basis(on, down_, of_columns_);
        between_.resize(d);
        std::vector<coordinate> order(down_ == 1 ? 0 : d);
        for (std::size_t j = 0; j < order.size(); ++j) {
            std::size_t const square = j / (across_ * down_), column = j / down_ % across_, row = j % down_;
            std::size_t const in_a_row = columns / across_;
            order[j] = static_cast<coordinate>((square / in_a_row * down_ + row) * columns +
                                               square % in_a_row * across_ + column);
        }
        order_.resize(order.size());
        copy_from_host(on, std::span<coordinate const>(order), std::span<coordinate>(order_));
        d_ = d, rows_ = rows, side_ = side;
    }
    void forward(B& on, std::span<T const> x, typename B::template array<T>& out) {
        out.resize(d_);
        if (d_ == 0) return;
        multiply(on, of_rows_.cosines, x, across_, down_ == 1 ? out : between_);
        if (down_ == 1) return;
        gather(on, std::span<T const>(between_), std::span<coordinate const>(order_), 1, T(1), moved_);
        multiply(on, of_columns_.cosines, std::span<T const>(moved_), down_, out);
    }
    /// y becomes the vector that forward() makes y of, up to rounding.
    void backward(B& on, typename B::template array<T>& y) {
        if (d_ == 0) return;
        if (down_ != 1) {
            moved_.resize(d_);
            multiply(on, of_columns_.transposed, std::span<T const>(y), down_, moved_);
            scatter(on, std::span<T const>(moved_), std::span<coordinate const>(order_), 1, std::span<T>(y));
        }
        multiply(on, of_rows_.transposed, std::span<T const>(y), across_, between_);
        copy(on, std::span<T const>(between_), std::span<T>(y));
    }

  private:
    using array = typename B::template array<T>;

    // A row for each frequency, and a row for each place.
    struct basis {
        array cosines, transposed;
    };
    static void fill_basis(B& on, std::size_t n, basis& made) {
        std::vector<T> all(n * n), turned(n * n);
        for (std::size_t k = 0; k < n; ++k)
            for (std::size_t t = 0; t < n; ++t)
                all[k * n + t] = turned[t * n + k] =
                    static_cast<T>(std::sqrt((k == 0 ? 1. : 2.) / static_cast<double>(n)) * cosine((2 * t + 1) * k, n));
        made.cosines.resize(n * n), made.transposed.resize(n * n);
        copy_from_host(on, std::span<T const>(all), std::span<T>(made.cosines));
        copy_from_host(on, std::span<T const>(turned), std::span<T>(made.transposed));
    }
    // The pieces of n numbers are the columns that the matrix multiplies.
    void multiply(B& on, array const& matrix, std::span<T const> x, std::size_t n, array& out) {
        multiply_matrix(on, std::span<T const>(matrix), kernels::matrix_is::as_it_stands, x, d_ / n, std::span<T>(out));
    }

    std::size_t d_ = 0, rows_ = 0, side_ = 0, across_ = 1, down_ = 1;
    basis of_rows_, of_columns_;
    array between_, moved_;
    typename B::template array<coordinate> order_;
};

}  // namespace laconic::detail

namespace laconic::messages {

/// A message about the cosines of a matrix's squares, as detail::square_cosines makes them of d numbers in so many
/// rows. Both ends know the shape. It has no self-describing form.
template <class M, Scalar T, class B>
struct turned {
    using value_type = T;
    template <class Other>
    using for_backend = turned<moved_to<Other, M>, T, Other>;

    std::size_t count = 0, rows = 1, side = 1;
    M inside;
    // Workspace, not part of the message.
    mutable laconic::detail::square_cosines<T, B> cosines{};
    mutable typename B::template array<T> numbers{};

    static auto fields(auto& m) { return std::tie(m.count, m.rows, m.side, m.inside); }
    std::size_t dimension() const { return count; }
    bool fits(std::size_t n) const {
        return count == n && rows > 0 && side > 0 && n % rows == 0 && laconic::detail::fits(inside, n);
    }
    friend bool operator==(turned const& a, turned const& b) {
        return a.count == b.count && a.rows == b.rows && a.side == b.side && a.inside == b.inside;
    }

    /// The numbers of the vector.
    std::span<T const> decoded(B& on) const {
        numbers.resize(count);
        fill(on, std::span<T>(numbers), T(0));
        add_message(on, std::span<T>(numbers), T(1), inside);
        turn_back(on);
        return numbers;
    }
    /// y, which holds cosines of such a vector, becomes the vector.
    void turn_back(B& on, std::span<T> y) const {
        numbers.resize(count);
        copy(on, std::span<T const>(y), std::span<T>(numbers));
        turn_back(on);
        copy(on, std::span<T const>(numbers), y);
    }

  private:
    void turn_back(B& on) const {
        cosines.prepare(on, count, rows, side);
        cosines.backward(on, numbers);
    }
};

template <class B, Scalar T, class M>
void add_message(B& on, std::span<T> out, T w, turned<M, T, B> const& m) {
    add_scaled(on, w, m.decoded(on), out);
}
template <class W, class M, Scalar T, class B>
void write(W& sink, turned<M, T, B> const& m) {
    write(sink, m.inside);
}

}  // namespace laconic::messages
