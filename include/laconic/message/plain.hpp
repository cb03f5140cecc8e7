// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <tuple>

#include "laconic/backend/code_words.hpp"
#include "laconic/message/message.hpp"

/// Messages of numbers that share nothing: in full, as powers of two, in a short format, as the product of two factors.
namespace laconic::messages {

/// A vector in full: all its numbers.
template <Scalar T, class B>
struct full_vector {
    using value_type = T;
    template <class Other>
    using for_backend = full_vector<T, Other>;
    typename B::template array<T> values;

    struct in_full {
        T const* values;
        constexpr T operator()(std::size_t j) const { return values[j]; }
    };
    using terms_type = terms_in_order<in_full>;

    static auto fields(auto& m) { return std::tie(m.values); }
    void resize(std::size_t n) { values.resize(n); }
    std::size_t dimension() const { return values.size(); }
    terms_type terms() const& { return {{values.data()}, values.size()}; }
    void terms() const&& = delete;  // a view of a temporary would dangle
    bool operator==(full_vector const&) const = default;
};

/// Sets x to 0 at the numbers that m has and that are not 0; if m is about a transform, at those of x's transform. A
/// message with others inside has this as a member, which returns false where they have it not. `room` is workspace of
/// as many numbers.
template <class B, Scalar T, class M>
void clear_sent(B& on, std::span<T> x, std::span<T> room, M const& m) {
    if constexpr (requires { m.clear_sent(on, x, room); })
        if (m.clear_sent(on, x, room)) return;
    if constexpr (TermMessage<M>) {
        clear_terms(on, x, m.terms());
    } else {
        fill(on, room, T(0));
        add_message(on, room, T(1), m);
        clear_terms(on, x, typename full_vector<T, B>::terms_type{{room.data()}, room.size()});
    }
}

/// Signed powers of two and zeros, in codes of a sign bit above the exponent field of T; a field of 0 means zero.
struct power_of_two {
    template <Scalar T>
    static constexpr unsigned width = sizeof(T) == 4 ? 9 : 12;
    template <Scalar T>
    static constexpr unsigned exponents = (1u << (width<T> - 1)) - 1;
    /// Those that are finite.
    template <Scalar T>
    static constexpr kernels::code_words words{width<T>, 0, exponents<T>, exponents<T> - 1};
    template <Scalar T>
    static constexpr T value(unsigned code) {
        detail::bits_of<T> const sign = code >> (width<T> - 1), exponent = code & exponents<T>;
        return std::bit_cast<T>(sign << (8 * sizeof(T) - 1) | exponent << (8 * sizeof(T) - width<T>));
    }
};

/// Numbers of a short format.
template <kernels::short_format F>
struct short_number {
    static constexpr kernels::short_layout layout = kernels::layout_of(F);
    template <Scalar T>
    static constexpr auto width = static_cast<unsigned>(layout.width());
    template <Scalar T>
    static constexpr kernels::code_words words{width<T>, 0, layout.sign() - 1u, layout.largest()};
    template <Scalar T>
    static constexpr T value(std::uint16_t code) {
        return kernels::short_value<T>(layout, code);
    }
};

/// Numbers each as its code of `code_width` bits in such a format.
template <class Format, Scalar T, class B>
struct coded {
    using value_type = T;
    using format = Format;
    template <class Other>
    using for_backend = coded<Format, T, Other>;
    static constexpr unsigned code_width = Format::template width<T>;
    static constexpr kernels::code_words words = Format::template words<T>;
    typename B::template array<std::uint16_t> codes;

    struct decoded {
        std::uint16_t const* codes;
        constexpr T operator()(std::size_t j) const { return Format::template value<T>(codes[j]); }
    };
    using terms_type = terms_in_order<decoded>;

    static auto fields(auto& m) { return std::tie(m.codes); }
    void resize(std::size_t n) { codes.resize(n); }
    std::size_t dimension() const { return codes.size(); }
    terms_type terms() const& { return terms_of(0, codes.data(), codes.size()); }
    void terms() const&& = delete;
    /// The terms of n numbers with these codes.
    static terms_type terms_of(std::size_t, std::uint16_t const* some, std::size_t n) { return {{some}, n}; }
    bool operator==(coded const&) const = default;
};
template <Scalar T, class B>
using powers = coded<power_of_two, T, B>;
template <kernels::short_format F, Scalar T, class B>
using short_floats = coded<short_number<F>, T, B>;

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

    struct products {
        T const *left, *right;
        std::size_t rows, cols, rank;
        constexpr T operator()(std::size_t j) const {
            double sum = 0;
            // Rounded once, so that it is the same with and without fused products.
            for (std::size_t c = 0; c < rank; ++c)
                sum = std::fma(static_cast<double>(left[c * rows + j / cols]),
                               static_cast<double>(right[c * cols + j % cols]), sum);
            return static_cast<T>(sum);
        }
    };
    using terms_type = terms_in_order<products>;

    static auto fields(auto& m) { return std::tie(m.count, m.rows, m.rank, m.left, m.right); }
    std::size_t dimension() const { return count; }
    bool fits(std::size_t n) const {
        return count == n && rows > 0 && rows * cols() == n && rank <= std::min(rows, cols()) &&
               left.size() == rank * rows && right.size() == rank * cols();
    }
    terms_type terms() const& { return {{left.data(), right.data(), rows, cols(), rank}, count}; }
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
