// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "laconic/objective/linear_model.hpp"
#include "laconic/objective/output_loss.hpp"

namespace laconic {

namespace detail {

// Calls f(width, c) for neighbouring blocks of constant width that cover the numbers c of [0, k).
void for_blocks(std::size_t k, auto&& f) {
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
/// row, and x_c its column c: the weights of one feature for all classes lie side by side. Two classes are the logistic
/// regression of half the lambda, with x_1 = -x_0 = half of its minimiser. k outputs; all else that it has is in
/// row_objective (linear_model.hpp).
template <Scalar T = double>
class softmax : public detail::row_objective<softmax<T>, T, squared_penalty> {
    using base = detail::row_objective<softmax, T, squared_penalty>;
    friend base;
    using base::rows_;

  public:
    /// diag(p) - p p' is at most 1/2 (Boehning 1992): attained by two classes at x = 0, and by more where all but two
    /// are ruled out. The loss is constant along x whose columns are all equal.
    static constexpr double largest_bend = .5, smallest_bend = 0;

    /// The classes are the distinct labels; it throws as the other constructor does.
    softmax(dataset<T> const& data, double lambda) : softmax(data, lambda, laconic::classes(data)) {}
    /// For data that may lack a class, as a worker's part may: all workers pass the same classes, increasing. Throws
    /// argument_error where lambda is negative or not finite, where there are no rows or no features, unless the
    /// classes are two or more whole numbers and every label is one of them, or where features times classes are 2^32
    /// or more; shape_error where there are more or fewer labels than rows.
    softmax(dataset<T> data, double lambda, std::vector<T> classes)
        : base(std::move(data), lambda), loss_(rows_.data(), std::move(classes)) {
        if (rows_.features() > detail::largest_dimension / outputs())
            throw argument_error({rows_.data().name, ": ", rows_.features(), " features times ", outputs(),
                                  " classes are more than a vector can hold"});
    }

    /// The labels of the columns of x, increasing.
    std::vector<T> const& classes() const { return loss_.classes(); }
    std::size_t outputs() const { return loss_.outputs(); }
    /// The share of the rows whose largest prediction is that of their own class; of classes with equal predictions the
    /// first counts. A pass of half the operations. For other data: softmax(those, 0, classes()).
    double accuracy(std::span<T const> x) const {
        LACONIC_EXPECTS(x.size() == base::dimension());
        auto const z = scratch().first(outputs());
        std::size_t hits = 0;
        for (std::size_t j = 0; j < rows_.size(); ++j) {
            predict(rows_[j], x, z);
            hits += std::max_element(z.begin(), z.end()) - z.begin() == std::ptrdiff_t(loss_.right(j));
        }
        return double(hits) / double(rows_.size());
    }

  private:
    // Scratch memory of the thread.
    std::span<double> scratch() const {
        thread_local std::vector<double> room;
        if (room.size() < 2 * outputs()) room.resize(2 * outputs());
        return {room.data(), 2 * outputs()};
    }
    static void predict(row_view<T> a, std::span<T const> x, std::span<double> z) { detail::row_times(a, x, z); }
    static void add(row_view<T> a, std::span<double const> s, double w, std::span<T> g) {
        detail::add_row_times(a, s, w, g);
    }
    double loss(std::size_t j, std::span<double> z) const { return loss_.loss(z, j); }
    void bend(std::size_t j, std::span<double> z, std::span<double> v) const {
        loss_.loss(z, j);
        loss_.multiply_by_bend(std::span<double const>(z), j, v);
    }

    class_output<T> loss_;
};

}  // namespace laconic
