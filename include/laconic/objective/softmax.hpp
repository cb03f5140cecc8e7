// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "laconic/core/contract.hpp"
#include "laconic/core/error.hpp"
#include "laconic/core/term.hpp"
#include "laconic/core/text.hpp"
#include "laconic/core/view.hpp"
#include "laconic/objective/class_index.hpp"
#include "laconic/objective/cross_entropy.hpp"
#include "laconic/objective/dataset.hpp"
#include "laconic/objective/exact_sum.hpp"
#include "laconic/objective/finite_sum.hpp"
#include "laconic/objective/shared_rows.hpp"

namespace laconic {

namespace detail {

// Calls f(width, c) for neighbouring blocks of constant width that cover the numbers c of [0, k).
template <class F>
void for_blocks(std::size_t k, F&& f) {
    std::size_t c = 0;
    for (; k - c >= 16; c += 16) f(std::integral_constant<int, 16>{}, c);
    if (k - c >= 8) f(std::integral_constant<int, 8>{}, c), c += 8;
    if (k - c >= 4) f(std::integral_constant<int, 4>{}, c), c += 4;
    if (k - c >= 2) f(std::integral_constant<int, 2>{}, c), c += 2;
    if (k - c >= 1) f(std::integral_constant<int, 1>{}, c);
}

// z = X'a for the matrix X of k columns, row after row: the sums of a block stay in registers.
template <Scalar T>
void row_times(row_view<T> a, std::span<T const> x, std::span<double> z) {
    for_blocks(z.size(), [&](auto width, std::size_t c) {
        Eigen::Array<double, width, 1> sum = Eigen::Array<double, width, 1>::Zero();
        T const* const from = x.data() + c;
        for (std::int64_t p = 0; p < a.count; ++p) {
            Eigen::Map<Eigen::Array<T, width, 1> const> const numbers(from + a.column[p] * z.size());
            sum += double(a.value[p]) * numbers.template cast<double>();
        }
        Eigen::Map<Eigen::Array<double, width, 1>>(z.data() + c) = sum;
    });
}

// G += w a s'
template <Scalar T>
void add_row_times(row_view<T> a, std::span<double const> s, double w, std::span<T> g) {
    for_blocks(s.size(), [&](auto width, std::size_t c) {
        Eigen::Map<Eigen::Array<double, width, 1> const> const slopes(s.data() + c);
        Eigen::Array<T, width, 1> const factor = (w * slopes).template cast<T>();
        T* const to = g.data() + c;
        for (std::int64_t p = 0; p < a.count; ++p)
            Eigen::Map<Eigen::Array<T, width, 1>>(to + a.column[p] * s.size()) += a.value[p] * factor;
    });
}

}  // namespace detail

/// Softmax regression: f(x) = (1/N) sum_j [log sum_c exp(a_j . x_c) - a_j . x_{y_j}] + (lambda/2) |x|^2 over N rows a_j
/// whose labels name one of k classes, without an intercept. x is a matrix of features() rows and k columns, row after
/// row, and x_c its column c: the weights of one feature for all classes lie side by side. Convex, a FusedObjective
/// with products of its Hessian, a SmoothFiniteSum and GeneralisedLinear with k outputs. Two classes are the logistic
/// regression of half the lambda, with x_1 = -x_0 = half of its minimiser.
///
/// Copies are cheap and share the data. All members are const, safe to call from several threads, and sum in a fixed
/// order: the same bits in every run of one build. x, g, v and out hold dimension() numbers (else the contract is
/// broken). "A pass" is one over the non-zeros of the data, with 4 k operations each. A thread's first call allocates
/// 2 k numbers for its scratch memory, and the first smoothness allocates; nothing else does.
template <Scalar T = double>
class softmax {
  public:
    /// The classes are the distinct labels; it throws as the other constructor does.
    softmax(dataset<T> const& data, double lambda) : softmax(data, lambda, laconic::classes(data)) {}

    /// For data that may lack a class, as a worker's part may: all workers pass the same classes, increasing. Throws
    /// argument_error where lambda is negative or not finite, where there are no rows or no features, unless the
    /// classes are two or more whole numbers and every label is one of them, or where features times classes are 2^32
    /// or more; shape_error where there are more or fewer labels than rows.
    softmax(dataset<T> data, double lambda, std::vector<T> classes)
        : rows_(std::move(data)), classes_(std::move(classes)), lambda_(detail::checked_lambda(lambda)) {
        places_ = std::make_shared<std::vector<std::uint32_t> const>(class_index(rows_.data(), classes_));
        if (rows_.features() > detail::largest_dimension / classes_.size())
            throw argument_error(
                detail::concat(detail::text_pieces{rows_.data().name, ": ", rows_.features(), " features times ",
                                                   classes_.size(), " classes are more than a vector can hold"}));
    }

    /// features times classes.
    std::size_t dimension() const { return rows_.features() * outputs(); }
    /// N, the number of rows.
    std::size_t samples() const { return rows_.size(); }
    double lambda() const { return lambda_; }
    dataset<T> const& data() const { return rows_.data(); }
    /// The labels of the columns of x, increasing.
    std::vector<T> const& classes() const { return classes_; }

    /// f(x), in one pass of half the operations.
    double value(std::span<T const> x) const {
        LACONIC_EXPECTS(x.size() == dimension());
        auto const z = scratch().first(outputs());
        exact_sum sum;
        for (std::size_t j = 0; j < samples(); ++j) {
            detail::row_times(rows_[j], x, z);
            sum.add(cross_entropy(z, right(j)));
        }
        return sum.total() / double(samples()) + penalty(x);
    }

    /// The share of the rows whose largest prediction is that of their own class; of classes with equal predictions the
    /// first counts. A pass of half the operations. For data that x was not fitted to, use softmax(those, 0,
    /// classes()).
    double accuracy(std::span<T const> x) const {
        LACONIC_EXPECTS(x.size() == dimension());
        auto const z = scratch().first(outputs());
        std::size_t hits = 0;
        for (std::size_t j = 0; j < samples(); ++j) {
            detail::row_times(rows_[j], x, z);
            hits += std::max_element(z.begin(), z.end()) - z.begin() == std::ptrdiff_t(right(j));
        }
        return double(hits) / double(samples());
    }

    /// Writes the gradient at x to g, in one pass.
    void gradient(std::span<T const> x, std::span<T> g) const {
        mean_of_rows(row_choice::all(samples()), x, g, x, [](auto, auto, double) {});
    }

    /// Writes the gradient at x to g and returns f(x), in one pass.
    double value_and_gradient(std::span<T const> x, std::span<T> g) const {
        exact_sum sum;
        mean_of_rows(row_choice::all(samples()), x, g, x, [&](auto, auto, double value) { sum.add(value); });
        return sum.total() / double(samples()) + penalty(x);
    }

    /// Writes the mean of grad f_j at x over the listed rows to g, f_j being row j's summand with the whole penalty:
    /// the bits of gradient(x, g) where every row is listed once, in order. At least one row, each below samples().
    void batch_gradient(std::span<std::uint32_t const> rows, std::span<T const> x, std::span<T> g) const {
        LACONIC_EXPECTS(!rows.empty());
        mean_of_rows(row_choice::of(rows), x, g, x, [](auto, auto, double) {});
    }

    /// The number of predictions of a sample: k, one for each class.
    std::size_t outputs() const { return classes_.size(); }

    /// Writes the derivatives of sample j's loss in a_j . x_0 to a_j . x_{k-1} to s, k numbers: the probability of each
    /// class, less 1 for the right one.
    void slopes(std::size_t j, std::span<T const> x, std::span<double> s) const {
        LACONIC_EXPECTS(x.size() == dimension() && s.size() == outputs());
        detail::row_times(rows_[j], x, s);
        cross_entropy(s, right(j));
    }

    /// g += w a_j s', a matrix as x is.
    void add_row(std::size_t j, std::span<double const> s, double w, std::span<T> g) const {
        LACONIC_EXPECTS(s.size() == outputs() && g.size() == dimension());
        detail::add_row_times(rows_[j], s, w, g);
    }

    /// g += lambda x, in a pass over d.
    void add_penalty_gradient(std::span<T const> x, std::span<T> g) const {
        LACONIC_EXPECTS(x.size() == dimension() && g.size() == dimension());
        for (std::size_t i = 0; i < g.size(); ++i) g[i] += static_cast<T>(lambda_ * double(x[i]));
    }

    /// Writes (Hessian at x) v to out, in one pass of one and a half times the operations.
    void hessian_times(std::span<T const> x, std::span<T const> v, std::span<T> out) const {
        LACONIC_EXPECTS(v.size() == dimension());
        auto const moved = scratch().last(outputs());
        mean_of_rows(row_choice::all(samples()), x, out, v, [&](std::size_t j, std::span<double> s, double) {
            detail::row_times(rows_[j], v, moved);
            s[right(j)] += 1;  // (diag(p) - p p') (V'a)
            double mean = 0;
            for (std::size_t c = 0; c < s.size(); ++c) mean += s[c] * moved[c];
            for (std::size_t c = 0; c < s.size(); ++c) s[c] *= moved[c] - mean;
        });
    }

    /// L = (largest eigenvalue of A'A / N) / 2 + lambda, since diag(p) - p p' is at most 1/2 (Boehning 1992): attained
    /// by two classes at x = 0, and by more where all but two are ruled out. The first call, for this or a copy, takes
    /// some tens of passes; later ones O(1).
    double smoothness() const { return rows_.largest_eigenvalue() / 2 + lambda_; }

    /// max_j L_j = max_j |a_j|^2 / 2 + lambda, in one pass.
    double sample_smoothness() const { return rows_.largest_square() / 2 + lambda_; }

    /// mu = lambda: the loss is constant along x whose columns are all equal.
    double strong_convexity() const { return lambda_; }

  private:
    std::uint32_t right(std::size_t j) const { return (*places_)[j]; }

    // Scratch memory of the thread, 2 k numbers.
    std::span<double> scratch() const {
        thread_local std::vector<double> room;
        if (room.size() < 2 * outputs()) room.resize(2 * outputs());
        return {room.data(), 2 * outputs()};
    }

    double penalty(std::span<T const> x) const {
        double sum = 0;
        for (auto const xi : x) sum += double(xi) * double(xi);
        return lambda_ / 2 * sum;
    }

    // out = the mean over the rows of a_j s', s being the slopes, which change(j, s, loss) may replace; + lambda v
    template <class Change>
    void mean_of_rows(row_choice rows, std::span<T const> x, std::span<T> out, std::span<T const> v,
                      Change&& change) const {
        LACONIC_EXPECTS(x.size() == dimension() && out.size() == dimension());
        auto const s = scratch().first(outputs());
        std::fill(out.begin(), out.end(), T(0));
        for (std::size_t k = 0; k < rows.size(); ++k) {
            auto const row = rows_[rows[k]];
            detail::row_times(row, x, s);
            double const loss = cross_entropy(s, right(rows[k]));
            change(rows[k], s, loss);
            detail::add_row_times(row, std::span<double const>(s), 1, out);
        }
        for (std::size_t i = 0; i < out.size(); ++i)
            out[i] = static_cast<T>(double(out[i]) / double(rows.size()) + lambda_ * double(v[i]));
    }

    shared_rows<T> rows_;
    std::vector<T> classes_;
    std::shared_ptr<std::vector<std::uint32_t> const> places_;
    double lambda_;
};

}  // namespace laconic
