// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "laconic/backend/host.hpp"
#include "laconic/optim/step.hpp"

namespace laconic {

/// Polynomials, one after another, which take the singular values of a matrix of norm at most 1 to about 1. Those of
/// newton_schulz, five times the same (Jordan et al. 2024), take values in [0.01, 1] to [0.68, 1.14], the five of
/// polar_express (Amsel et al., arXiv:2505.16932) to [0.85, 1.15]: neither converges to 1. polar is polar_express and
/// then three times s (15 - 10 s^2 + 3 s^4) / 8, which does: it takes those in [0.001, 1] to 1 up to rounding.
enum class orthogonalization { newton_schulz, polar_express, polar };
constexpr std::array<std::string_view, 3> words_of(orthogonalization) {
    return {"newton_schulz", "polar_express", "polar"};
}

/// The factor of a matrix step, for a matrix of so many rows, its outputs, and columns, its inputs: `original`
/// sqrt(max(1, rows / cols)); `match_rms_adamw` 0.2 sqrt(max(rows, cols)), with which AdamW's rate and weight decay
/// suit; `spectral` sqrt(rows / cols).
enum class matrix_scale { original, match_rms_adamw, spectral };
constexpr std::array<std::string_view, 3> words_of(matrix_scale) { return {"original", "match_rms_adamw", "spectral"}; }

namespace detail {

// The number of columns of a matrix of n numbers; throws argument_error where it is none of so many rows.
inline std::size_t columns_of(char const* step, std::size_t n, std::size_t rows) {
    if (n % rows != 0) throw argument_error({step, ": ", n, " numbers are no matrix of ", rows, " rows"});
    return n / rows;
}

inline double scale_of(matrix_scale how, std::size_t rows, std::size_t columns) {
    double const r = static_cast<double>(rows), c = static_cast<double>(columns);
    if (how == matrix_scale::match_rms_adamw) return 0.2 * std::sqrt(std::max(r, c));
    return std::sqrt(how == matrix_scale::original ? std::max(1.0, r / c) : r / c);
}

// p(s) = a s + b s^3 + c s^5, of singular values.
struct odd_polynomial {
    double a, b, c;
};
inline constexpr odd_polynomial jordan{3.4445, -4.7750, 2.0315}, to_one{1.875, -1.25, .375};
inline constexpr std::array by_newton_schulz{jordan, jordan, jordan, jordan, jordan};
inline constexpr std::array by_polar{odd_polynomial{8.156554524902461, -22.48329292557795, 15.878769915207462},
                                     odd_polynomial{4.042929935166739, -2.808917465908714, 0.5000178451051316},
                                     odd_polynomial{3.8916678022926607, -2.772484153217685, 0.5060648178503393},
                                     odd_polynomial{3.285753657755655, -2.3681294933425376, 0.46449024233003106},
                                     odd_polynomial{2.3465413258596377, -1.7097828382687081, 0.42323551169305323},
                                     to_one,
                                     to_one,
                                     to_one};
constexpr std::span<odd_polynomial const> polynomials_of(orthogonalization by) {
    if (by == orthogonalization::newton_schulz) return by_newton_schulz;
    return std::span(by_polar).first(by == orthogonalization::polar ? 8 : 5);
}

// Number j of a matrix, divided.
template <Scalar T>
struct divided_number {
    std::span<T> x;
    double by;

    [[gnu::always_inline]] constexpr void operator()(std::size_t j) const {
        x[j] = static_cast<T>(static_cast<double>(x[j]) / by);
    }
};
// Row j of the transpose of a matrix.
template <Scalar T>
struct transposed_row {
    std::span<T const> x;
    std::span<T> out;
    std::size_t rows;

    [[gnu::always_inline]] constexpr void operator()(std::size_t j) const {
        for (std::size_t i = 0, columns = x.size() / rows; i < rows; ++i) out[j * rows + i] = x[i * columns + j];
    }
};

/// out <- X', for X of so many rows.
template <Scalar T, class B>
void transpose(B& on, std::span<T const> x, std::size_t rows, std::span<T> out) {
    at_each_index(on, x.size() / rows, transposed_row<T>{x, out, rows});
}

/// Replaces a matrix U S V' by U p(S / |S|) V', nearly the orthogonal U V'; zeros stay zeros. |S| is its Frobenius
/// norm, at least epsilon with newton_schulz, else times 1.02, plus epsilon. Products are summed in
/// double, in a fixed order, and rounded to T. 2 n^2 m + n^3 products for each polynomial of an n x m matrix, n <= m.
template <Scalar T, class B>
class orthogonalizer {
  public:
    void operator()(B& on, std::span<T> matrix, std::size_t rows, orthogonalization by, double epsilon) {
        if (matrix.empty()) return;
        std::size_t const columns = matrix.size() / rows, n = std::min(rows, columns);
        double const norm = std::sqrt(sum_of_squares(on, std::span<T const>(matrix)));
        double const by_norm = by == orthogonalization::newton_schulz ? std::max(norm, epsilon)
                                                                      : simd::rounded_product(norm, 1.02) + epsilon;
        at_each_index(on, matrix.size(), divided_number<T>{matrix, by_norm});
        wide_.resize(matrix.size()), tall_.resize(matrix.size()), product_.resize(matrix.size());
        gram_.resize(n * n), square_.resize(n * n);
        std::span<T> const x(wide_), x_transposed(tall_), p_x(product_), gram(gram_), square(square_);
        if (rows > columns)
            transpose(on, std::span<T const>(matrix), rows, x);
        else
            copy(on, std::span<T const>(matrix), x);
        for (auto const [a, b, c] : polynomials_of(by)) {
            rows_by_rows(on, x, x, n, gram);          // A = X X'
            rows_by_rows(on, gram, gram, n, square);  // A A, as A is symmetric
            multiply(on, static_cast<T>(c), square);
            add_scaled(on, static_cast<T>(b), std::span<T const>(gram), square);
            transpose(on, std::span<T const>(x), n, x_transposed);
            rows_by_rows(on, x_transposed, square, n, p_x);  // (b A + c A A) X
            multiply(on, static_cast<T>(a), x);
            add_scaled(on, T(1), std::span<T const>(p_x), x);
        }
        if (rows > columns)
            transpose(on, std::span<T const>(x), n, matrix);
        else
            copy(on, std::span<T const>(x), matrix);
    }

  private:
    // out_ci = the product of row i of x with row c of y, of `rows` rows.
    static void rows_by_rows(B& on, std::span<T> x, std::span<T> y, std::size_t rows, std::span<T> out) {
        multiply_matrix(on, std::span<T const>(x), kernels::matrix_is::as_it_stands, std::span<T const>(y), rows, out);
    }
    typename B::template array<T> wide_, tall_, product_, gram_, square_;
};

}  // namespace detail

/// The numbers of `muon`; the defaults are PyTorch's. Jordan's own are a rate of 0.02 without weight decay.
struct muon_options {
    std::size_t rows = 1;
    double rate = 1e-3, beta = 0.95, weight_decay = 0.1, epsilon = 1e-7;
    bool nesterov = true;
    matrix_scale scale = matrix_scale::original;
    orthogonalization by = orthogonalization::newton_schulz;

    static constexpr void description(auto&& describe) {
        describe("muon", "a matrix by its momentum, orthogonalized", "Jordan et al. 2024",
                 field("rows", &muon_options::rows).between(1, 0x1p53).written_by_name(),
                 field("rate", &muon_options::rate).between(0, 1e300).written_by_name(),
                 field("beta", &muon_options::beta).between(0, 1).by_name(),
                 field("weight_decay", &muon_options::weight_decay).between(0, 1e300).by_name(),
                 field("epsilon", &muon_options::epsilon).between(0, 1e300).by_name(),
                 field("nesterov", &muon_options::nesterov).by_name(), field("scale", &muon_options::scale).by_name(),
                 field("by", &muon_options::by).by_name());
    }
};

/// Muon (Jordan et al. 2024), for a matrix X of `rows` rows, row after row, with M = 0 at the start:
///     M <- beta M + (1 - beta) D,    U = M, or with nesterov  beta M + (1 - beta) D,
///     X <- (1 - rate weight_decay) X - rate scale orth(U),
/// where orth makes the singular values of U about 1 (see `orthogonalization`), and the matrix_scale follows from the
/// shape. D is the estimate of the mean over ranks: the mean of each rank's orth(D) is another step. Vectors, and the
/// first and last layers of a network, take another step, such as AdamW: see layered_step. Its time is that of 15
/// matrix products. State: M.
template <Scalar T = double, class B = host>
class muon {
  public:
    /// Throws argument_error unless rows >= 1, beta is in [0, 1), epsilon is above 0, and the others are at least 0 and
    /// finite.
    explicit muon(muon_options how = {}) : how_(how) {
        detail::require_factor("muon", "beta", how.beta);
        detail::require_above_0("muon", "epsilon", how.epsilon);
        detail::check_fields(how);
    }

    /// Throws argument_error where n numbers are no matrix of so many rows; so does a step.
    void check(std::size_t n) const { static_cast<void>(detail::columns_of("muon", n, how_.rows)); }

    void operator()(B& on, std::span<T> x, std::span<T> d) {
        std::size_t const columns = detail::columns_of("muon", x.size(), how_.rows);
        mean_.resize(x.size());
        std::span<T> const mean(mean_);
        T const beta = static_cast<T>(how_.beta), fresh = static_cast<T>(1 - how_.beta);
        multiply(on, beta, mean);
        add_scaled(on, fresh, std::span<T const>(d), mean);
        if (how_.nesterov) {
            multiply(on, fresh, d);
            add_scaled(on, beta, std::span<T const>(mean), d);
        } else {
            copy(on, std::span<T const>(mean), d);
        }
        orthogonalize_(on, d, how_.rows, how_.by, how_.epsilon);
        multiply(on, static_cast<T>(1 - simd::rounded_product(how_.rate, how_.weight_decay)), x);
        double const length = how_.rate * detail::scale_of(how_.scale, how_.rows, columns);
        add_scaled(on, static_cast<T>(-length), std::span<T const>(d), x);
    }

    double rate() const { return how_.rate; }
    /// M; empty before the first step.
    std::span<T const> mean() const { return mean_; }
    void state(auto& archive) { archive.vectors(mean_); }
    friend std::string to_string(muon const& s) { return to_string(s.how_); }

  private:
    muon_options how_;
    typename B::template array<T> mean_;
    detail::orthogonalizer<T, B> orthogonalize_;
};

}  // namespace laconic
