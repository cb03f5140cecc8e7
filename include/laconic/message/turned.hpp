// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <tuple>
#include <vector>

#include "laconic/backend/backend.hpp"
#include "laconic/core/key.hpp"
#include "laconic/message/plain.hpp"

/// Orthonormal transforms of a vector, and messages about what they make. A transform has what both ends know of it,
/// which is a part of the message, and workspace, which is not:
///   forward(on, x, out)  makes as many numbers of those of x;
///   backward(on, y)      makes of those the vector again, up to rounding, in place;
///   dimension(), fits(n), == and fields(t) as a message;
///   same_on_all_ranks    whether it is, so that several ranks' numbers of it may be put together.
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

/// The orthonormal cosine transform (DCT-II) of the squares of a matrix of so many rows, which divide `count`. Their
/// sides are the largest divisors of the numbers of its rows and columns up to `side`; with one row, of pieces of the
/// vector. The squares stand one after another in what it makes, of each the columns.
template <Scalar T, class B>
struct square_cosines {
    using value_type = T;
    using array = typename B::template array<T>;
    template <class Other>
    using for_backend = square_cosines<T, Other>;
    static constexpr bool same_on_all_ranks = true;
    std::size_t count = 0, rows = 1, side = 1;

    static auto fields(auto& t) { return std::tie(t.count, t.rows, t.side); }
    std::size_t dimension() const { return count; }
    bool fits(std::size_t n) const { return count == n && rows > 0 && side > 0 && n % rows == 0; }
    friend bool operator==(square_cosines const& a, square_cosines const& b) { return fields(a) == fields(b); }

    void forward(B& on, std::span<T const> x, array& out) {
        prepare(on);
        out.resize(count);
        if (count == 0) return;
        multiply(on, of_rows_.transposed, x, across_, down_ == 1 ? out : between_);
        if (down_ == 1) return;
        gather(on, std::span<T const>(between_), std::span<coordinate const>(order_), 1, T(1), moved_);
        multiply(on, of_columns_.transposed, std::span<T const>(moved_), down_, out);
    }
    void backward(B& on, array& y) {
        prepare(on);
        if (count == 0) return;
        if (down_ != 1) {
            moved_.resize(count);
            multiply(on, of_columns_.cosines, std::span<T const>(y), down_, moved_);
            scatter(on, std::span<T const>(moved_), std::span<coordinate const>(order_), 1, std::span<T>(y));
        }
        multiply(on, of_rows_.cosines, std::span<T const>(y), across_, between_);
        copy(on, std::span<T const>(between_), std::span<T>(y));
    }

  private:
    // A row for each frequency, and a row for each place.
    struct basis {
        array cosines, transposed;
    };
    void prepare(B& on) {
        std::array<std::size_t, 3> const now{count, rows, side};
        if (now == prepared_) return;
        std::size_t const d = count, columns = d / rows;
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
        prepared_ = now;
    }
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
        multiply_matrix(on, std::span<T const>(matrix), kernels::matrix_is::transposed, x, count / n,
                        std::span<T>(out));
    }

    std::array<std::size_t, 3> prepared_{};
    std::size_t across_ = 1, down_ = 1;
    basis of_rows_, of_columns_;
    array between_, moved_;
    typename B::template array<coordinate> order_;
};

/// Random rotations of blocks of consecutive numbers, as rotate_blocks() makes them with signs of the key's, after
/// which numbers are about normal. What is left behind the last block is rotated together with numbers before it, as a
/// whole block: there are as many numbers as before. Blocks are powers of two, the largest in the vector where it has
/// fewer numbers than `longest`.
template <Scalar T, class B>
struct random_rotation {
    using value_type = T;
    using array = typename B::template array<T>;
    template <class Other>
    using for_backend = random_rotation<T, Other>;
    static constexpr bool same_on_all_ranks = false;
    std::size_t count = 0, longest = 1;
    key from{};

    static auto fields(auto& t) { return std::tie(t.count, t.longest, t.from); }
    std::size_t dimension() const { return count; }
    bool fits(std::size_t n) const { return count == n && std::has_single_bit(longest); }
    bool operator==(random_rotation const&) const = default;

    void forward(B& on, std::span<T const> x, array& out) const {
        out.resize(count);
        copy(on, x, std::span<T>(out));
        if (count == 0) return;
        std::size_t const block = block_length();
        auto const how = kernels::matrix_is::as_it_stands;
        rotate_blocks(on, block, how, from, 0, std::span<T>(out).first(count / block * block));
        if (count % block != 0) rotate_blocks(on, block, how, from, count, std::span<T>(out).last(block));
    }
    void backward(B& on, array& y) const {
        if (count == 0) return;
        std::size_t const block = block_length();
        auto const how = kernels::matrix_is::transposed;
        if (count % block != 0) rotate_blocks(on, block, how, from, count, std::span<T>(y).last(block));
        rotate_blocks(on, block, how, from, 0, std::span<T>(y).first(count / block * block));
    }

  private:
    std::size_t block_length() const { return std::min(longest, std::bit_floor(count)); }
};

}  // namespace laconic::detail

namespace laconic::messages {

/// A message about what a transform makes of a vector. Both ends know the transform. It has no self-describing form.
template <class M, class Transform>
struct turned {
    using value_type = typename Transform::value_type;
    template <class Other>
    using for_backend = turned<moved_to<Other, M>, moved_to<Other, Transform>>;

    mutable Transform transform{};
    M inside{};
    mutable typename Transform::array numbers{};  // workspace, not part of the message

    static auto fields(auto& m) { return std::tie(m.transform, m.inside); }
    std::size_t dimension() const { return transform.dimension(); }
    bool fits(std::size_t n) const { return transform.fits(n) && laconic::detail::fits(inside, n); }
    friend bool operator==(turned const& a, turned const& b) {
        return a.transform == b.transform && a.inside == b.inside;
    }

    /// The numbers of the transform.
    std::span<value_type const> turned_numbers(auto& on) const {
        using T = value_type;
        numbers.resize(dimension());
        fill(on, std::span<T>(numbers), T(0));
        add_message(on, std::span<T>(numbers), T(1), inside);
        return numbers;
    }
    /// The numbers of the vector.
    std::span<value_type const> decoded(auto& on) const {
        turned_numbers(on);
        transform.backward(on, numbers);
        return numbers;
    }
    /// As add_unturned() and turn_back() say.
    void add_unturned(auto& on, std::span<value_type> out, value_type w) const requires Transform::same_on_all_ranks {
        add_message(on, out, w, inside);
    }
    void turn_back(auto& on, std::span<value_type> y) const requires Transform::same_on_all_ranks {
        numbers.resize(dimension());
        copy(on, std::span<value_type const>(y), std::span<value_type>(numbers));
        write_back(on, y);
    }
    bool clear_sent(auto& on, std::span<value_type> x, std::span<value_type> room) const {
        transform.forward(on, x, numbers);
        messages::clear_sent(on, std::span<value_type>(numbers), room, inside);
        return write_back(on, x), true;
    }

  private:
    void write_back(auto& on, std::span<value_type> y) const {
        transform.backward(on, numbers);
        copy(on, std::span<value_type const>(numbers), y);
    }
};

template <class B, Scalar T, class M, class Transform>
void add_message(B& on, std::span<T> out, T w, turned<M, Transform> const& m) {
    add_scaled(on, w, m.decoded(on), out);
}
template <class W, class M, class Transform>
void write(W& sink, turned<M, Transform> const& m) {
    write(sink, m.inside);
}

}  // namespace laconic::messages
