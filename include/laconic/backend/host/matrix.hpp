// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

#include "laconic/backend/host/reduce.hpp"
#include "laconic/backend/host/update.hpp"
#include "laconic/backend/scales.hpp"

/// Products of a matrix X, whose numbers stand row after row, with a few columns, which stand one after another. Sums
/// are in double, in the order of sum_order.hpp.
namespace laconic::detail {

// The sum of x_i y_i.
template <class A, Scalar T>
double ordered_dot(std::span<T const> x, std::span<T const> y) {
    return ordered_sum<A>([](auto& sum, auto v, auto w) { add_product<T>(sum, v, w); }, x, y);
}

// The products of neighbouring columns of X, as many as a vector has lanes, with a few columns, in a stretch of X's
// rows.
template <class A, Scalar T>
struct column_products {
    using pack = typename stretch_sum<A, T>::pack;
    static constexpr std::size_t width = pack::width, few = 4;
    using packs = std::array<pack, few>;
    std::array<std::array<double, width>, few> of{};

    column_products() = default;
    // Rows begin `length` numbers apart; by[few i + c] belongs to row i and column c.
    column_products(T const* x, std::size_t length, double const* by, std::size_t rows) {
        constexpr std::size_t most = 4;  // the partial sums of so many are inline
        std::array<packs, most> s;
        for (std::size_t r = 0; r < most; ++r) s[r] = partial<most>(x, length, by, r, rows);
        auto const all = join_in_halves<A>(s, add);
        for (std::size_t c = 0; c < few; ++c) all[c].store(of[c].data());
    }
    column_products& operator+=(column_products const& other) {
        for (std::size_t c = 0; c < few; ++c)
            for (std::size_t j = 0; j < width; ++j) of[c][j] += other.of[c][j];
        return *this;
    }

  private:
    static void add(packs& to, packs const& what) {
        for (std::size_t c = 0; c < few; ++c) to[c] += what[c];
    }
    // Partial sums r, r + apart, r + 2 apart, .., added in halves: those that are added first lie farthest apart.
    template <std::size_t apart>
    [[gnu::always_inline]] static packs partial(T const* x, std::size_t length, double const* by, std::size_t r,
                                                std::size_t rows) {
        packs s;
        if constexpr (apart < partial_sums) {
            s = partial<2 * apart>(x, length, by, r, rows);
            add(s, partial<2 * apart>(x, length, by, r + apart, rows));
        } else {
            s.fill(pack::all(0));
            for (; r < rows; r += apart)
                for (std::size_t c = 0; c < few; ++c)
                    add_product<T>(s[c], stretch_sum<A, T>::load(x + r * length), pack::all(by[few * r + c]));
        }
        return s;
    }
};

// out = X by, or X' by; see multiply_matrix.
template <class A, Scalar T, Scalar U>
void multiply_into(kernels::basic_host<A>& on, std::span<T const> x, kernels::matrix_is how, std::span<T const> by,
                   std::size_t columns, std::span<U> out) {
    LACONIC_EXPECTS(columns >= 1 && by.size() % columns == 0 && out.size() % columns == 0);
    std::size_t const length = out.size() / columns, summands = by.size() / columns;
    LACONIC_EXPECTS(length * summands == x.size());
    if (how == kernels::matrix_is::as_it_stands) {
        for (std::size_t i = 0; i < length; ++i)
            for (std::size_t c = 0; c < columns; ++c)
                out[c * length + i] = static_cast<U>(
                    ordered_dot<A>(x.subspan(i * summands, summands), by.subspan(c * summands, summands)));
        return;
    }
    if (summands == 0) {  // there is no row to point into
        for (U& v : out) v = 0;
        return;
    }
    using products = column_products<A, T>;
    constexpr std::size_t few = products::few, width = products::width;
    bool const is_short = length < width;  // then zeros stand behind each row
    std::size_t const apart = std::max(length, width);
    auto const longer = on.template scratch<T>(scratch_for::parts, is_short ? summands * width : 0);
    for (std::size_t i = 0; i < longer.size(); ++i)
        longer[i] = i % width < length ? x[i / width * length + i % width] : T(0);
    T const* const rows = is_short ? longer.data() : x.data();
    auto const of_few = on.template scratch<double>(scratch_for::sums, summands * few);
    for (std::size_t c = 0; c < columns; c += few) {
        std::size_t const count = std::min(few, columns - c);
        for (std::size_t i = 0; i < of_few.size(); ++i)
            of_few[i] = i % few < count ? static_cast<double>(by[(c + i % few) * summands + i / few]) : 0;
        for (std::size_t next = 0; next < length; next += width) {
            std::size_t const first = std::min(next, apart - width);  // the last ones once more, if they fill no vector
            auto const all = sum_in_order(0, summands, [&](std::size_t row, std::size_t n) {
                return products(rows + row * apart + first, apart, of_few.data() + few * row, n);
            });
            for (std::size_t k = 0; k < count; ++k)
                for (std::size_t j = 0; j < std::min(width, length); ++j)
                    out[(c + k) * length + first + j] = static_cast<U>(all.of[k][j]);
        }
    }
}

// y becomes sums and differences of numbers h apart, h = 1, 2, 4, .. below n, which is a power of two: H y.
template <std::size_t n, Scalar T>
void sums_and_differences(std::span<T, n> y) {
    if constexpr (n > 1) {
        sums_and_differences(y.template first<n / 2>()), sums_and_differences(y.template last<n / 2>());
        for (std::size_t i = 0; i < n / 2; ++i) {
            T const a = y[i], b = y[i + n / 2];
            y[i] = a + b, y[i + n / 2] = a - b;
        }
    }
}
template <class A, Scalar T>
void sums_and_differences(T* y, std::size_t n) {
    using pack = simd::pack<T, A>;
    constexpr std::size_t width = pack::width, cached = 4096;  // what is longer is made of halves that are
    std::size_t h = n > cached ? n / 2 : n < width ? 1 : width;
    if (n > cached)
        sums_and_differences<A>(y, h), sums_and_differences<A>(y + h, h);
    else if (h == width)
        for (std::size_t i = 0; i < n; i += width) {
            std::array<T, width> few;
            std::copy_n(y + i, width, few.data());
            sums_and_differences(std::span<T, width>(few));
            std::copy_n(few.data(), width, y + i);
        }
    auto const add = [&]<class V>(std::type_identity<V>, T* a, T* b) {
        auto const sum = V::load(a) + V::load(b), difference = V::load(a) - V::load(b);
        sum.store(a), difference.store(b);
    };
    for (; h < n; h *= 2)
        for (T* at = y; at != y + n; at += 2 * h)
            if (h < width)
                for (std::size_t i = 0; i < h; ++i) add(std::type_identity<simd::single<T, A>>{}, at + i, at + h + i);
            else
                for (std::size_t i = 0; i < h; i += width) add(std::type_identity<pack>{}, at + i, at + h + i);
}

// Makes y's columns orthonormal; see multiply_to_orthonormal.
template <class A>
void orthonormalise(kernels::basic_host<A>& on, std::span<double> y, std::size_t columns) {
    std::size_t const length = y.size() / columns;
    for (std::size_t c = 0; c < columns; ++c) {
        auto const column = y.subspan(c * length, length);
        std::span<double const> const as_is = column;
        multiply(on, kernels::unit_scale(largest_magnitude(on, as_is)), column);  // squares neither vanish nor overflow
        double const before = std::sqrt(sum_of_squares(on, as_is));
        for (std::size_t b = 0; b < 2 * c; ++b) {
            std::span<double const> const earlier = y.subspan(b % c * length, length);
            double const overlap = ordered_dot<A>(earlier, as_is);
            add_scaled(on, -overlap, earlier, column);
        }
        double const after = std::sqrt(sum_of_squares(on, as_is));
        if (after > 0x1p-40 * before)
            for (double& v : column) v /= after;
        else
            std::fill(column.begin(), column.end(), 0.0);
    }
}

}  // namespace laconic::detail

namespace laconic::kernels {

/// Independent numbers, uniform on a grid in (-1, 1) that is symmetric and leaves out 0: the odd multiples of 2^-24
/// for float, of 2^-53 for double. Number i is that of the key's stream at first + i.
template <class A, Scalar T>
void draw_symmetric(basic_host<A>&, key from, std::uint64_t first, std::span<T> out) {
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = detail::symmetric_number<T>(from, first + i);
}

/// Rotates each block of so many consecutive numbers, a power of two that divides y.size(): y <- H D y / sqrt(block),
/// or, transposed, D H y / sqrt(block), which undoes it up to rounding. H_jk is -1 where j and k have an odd number of
/// bits in common, else 1, as Walsh and Hadamard have it; D has the signs of the key's stream, from sign `first` on.
/// Numbers are scaled, then added up: log2(block) additions for each.
template <class A, Scalar T>
void rotate_blocks(basic_host<A>& on, std::size_t block, matrix_is how, key from, std::uint64_t first, std::span<T> y) {
    LACONIC_EXPECTS(std::has_single_bit(block) && y.size() % block == 0);
    using bits = detail::bits_of<T>;
    auto const change_signs = [&](std::uint64_t at, std::span<T> part) {
        for (std::size_t i = 0, n; i < part.size(); i += n) {
            auto const words = from.words((at + i) / 128);
            n = std::min<std::size_t>(128 - (at + i) % 128, part.size() - i);
            for (std::size_t j = 0; j < n; ++j) {
                std::size_t const sign = (at + i + j) % 128;
                auto const negative = static_cast<bits>(words[sign / 32] >> sign % 32 & 1) << (8 * sizeof(T) - 1);
                part[i + j] = std::bit_cast<T>(std::bit_cast<bits>(part[i + j]) ^ negative);
            }
        }
    };
    auto const scale = static_cast<T>(1 / std::sqrt(static_cast<double>(block)));
    for (std::size_t b = 0; b < y.size(); b += block) {
        auto const part = y.subspan(b, block);
        multiply(on, scale, part);
        if (how == matrix_is::as_it_stands) change_signs(first + b, part);
        detail::sums_and_differences<A>(part.data(), block);
        if (how == matrix_is::transposed) change_signs(first + b, part);
    }
}

/// out = X by, or X' by, for `columns` >= 1 columns in `by` and in `out`, whose lengths give the shape of X. Summed in
/// double, then rounded to T.
template <class A, Scalar T>
void multiply_matrix(basic_host<A>& on, std::span<T const> x, matrix_is how, std::span<T const> by, std::size_t columns,
                     std::span<T> out) {
    detail::multiply_into(on, x, how, by, columns, out);
}

/// The same columns made orthonormal, in their order, before they are rounded to T: Gram and Schmidt, modified, twice.
/// A column of which less than 2^-40 is left depends on those before it, or is 0, and becomes 0. The product is finite.
template <class A, Scalar T>
void multiply_to_orthonormal(basic_host<A>& on, std::span<T const> x, matrix_is how, std::span<T const> by,
                             std::size_t columns, std::span<T> out) {
    auto const y = on.template scratch<double>(detail::scratch_for::numbers, out.size());
    detail::multiply_into(on, x, how, by, columns, y);
    detail::orthonormalise(on, y, columns);
    for (std::size_t i = 0; i < y.size(); ++i) out[i] = static_cast<T>(y[i]);
}

}  // namespace laconic::kernels
