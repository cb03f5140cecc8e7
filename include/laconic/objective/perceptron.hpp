// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "laconic/core/contract.hpp"
#include "laconic/core/error.hpp"
#include "laconic/core/key.hpp"
#include "laconic/core/term.hpp"
#include "laconic/core/text.hpp"
#include "laconic/core/view.hpp"
#include "laconic/objective/activation.hpp"
#include "laconic/objective/class_index.hpp"
#include "laconic/objective/cross_entropy.hpp"
#include "laconic/objective/dataset.hpp"
#include "laconic/objective/exact_sum.hpp"
#include "laconic/objective/finite_sum.hpp"
#include "laconic/objective/matrix_block.hpp"
#include "laconic/objective/perceptron_parts.hpp"
#include "laconic/objective/shared_rows.hpp"

namespace laconic {

/// A perceptron of two layers that classifies into k classes: f(x) = (1/N) sum_j cross_entropy(W' act(W a_j + b) + b',
/// y_j) + (lambda/2) (|W|^2 + |W'|^2) over N rows a_j, which the caller has brought to a common scale, and whose labels
/// name one of the classes. Not convex. A FusedObjective and a FiniteSum.
///
/// x holds, one after another: W, hidden x features, row after row; b, hidden numbers; W', classes x hidden, row after
/// row; b', classes numbers. matrices() returns the places of W and W'.
///
/// Copies are cheap and share the data. All members are const, safe to call from several threads, and sum in a fixed
/// order: the same bits in every run of one build. x and g hold dimension() numbers (else the contract is broken). Rows
/// are processed in blocks of 64, as matrix products: about 6 hidden (features + classes) operations a row for a
/// gradient, a third of them for a value. A thread's first call allocates scratch memory for one block, 64 (features +
/// 2 hidden + classes) numbers; later ones allocate only for a larger network.
template <Scalar T = double, Activation Act = activation::relu>
class perceptron {
  public:
    /// The classes are the distinct labels; it throws as the other constructor does.
    perceptron(dataset<T> const& data, std::size_t hidden, double lambda = 0)
        : perceptron(data, hidden, lambda, laconic::classes(data)) {}

    /// For data that may lack a class, as a worker's part may: all workers pass the same classes, increasing. Throws
    /// argument_error where there are no hidden units, rows or features, where lambda is negative or not finite, unless
    /// the classes are two or more whole numbers and every label is one of them, or where x would have 2^32 numbers or
    /// more; shape_error where there are more or fewer labels than rows.
    perceptron(dataset<T> data, std::size_t hidden, double lambda, std::vector<T> classes)
        : rows_(std::move(data)), classes_(std::move(classes)), hidden_(hidden), lambda_(lambda) {
        auto const& name = rows_.data().name;
        if (!(lambda >= 0 && std::isfinite(lambda)))
            throw argument_error(detail::concat({"lambda = ", lambda, " is not a finite number of at least 0"}));
        places_ = std::make_shared<std::vector<std::uint32_t> const>(class_index(rows_.data(), classes_));
        if (hidden == 0) throw argument_error(detail::concat({name, ": a perceptron without hidden units"}));
        if (hidden > (largest_dimension - classes_.size()) / (features() + 1 + classes_.size()))
            throw argument_error(detail::concat({name, ": ", hidden, " hidden units of ", features(), " features and ",
                                                 classes_.size(), " classes are more than a vector can hold"}));
    }

    std::size_t features() const { return rows_.features(); }
    std::size_t hidden() const { return hidden_; }
    /// hidden (features + 1) + classes (hidden + 1).
    std::size_t dimension() const { return hidden_ * (features() + 1) + classes_.size() * (hidden_ + 1); }
    /// N, the number of rows.
    std::size_t samples() const { return rows_.size(); }
    double lambda() const { return lambda_; }
    dataset<T> const& data() const { return rows_.data(); }
    /// The labels of the outputs, increasing.
    std::vector<T> const& classes() const { return classes_; }

    /// The places of W and W' in x and g; the biases of a layer stand behind its matrix.
    std::array<matrix_block, 2> matrices() const {
        return {{{0, hidden_, features()}, {hidden_ * (features() + 1), classes_.size(), hidden_}}};
    }

    /// A starting point: weights uniform around 0, in W as Act requires, in W' as Glorot and Bengio (2010) do, from
    /// children 0 and 1 of the key; biases 0.
    std::vector<T> initial_point(key from) const {
        std::vector<T> x(dimension());
        auto const [first, second] = matrices();
        auto const draw = [&](matrix_block to, key mine, double largest) {
            for (std::size_t i = 0; i < to.size(); ++i) x[to.offset + i] = T(largest * (2 * mine.uniform(i) - 1));
        };
        draw(first, from.child(0), Act::first_weight(double(first.columns), double(first.rows)));
        draw(second, from.child(1), activation::tanh::first_weight(double(second.columns), double(second.rows)));
        return x;
    }

    /// f(x).
    double value(std::span<T const> x) const {
        exact_sum sum;
        forward(row_choice::all(samples()), x, [&](block& b) { sum.add(b.losses(*this)); });
        return sum.total() / double(samples()) + penalty(x);
    }

    /// The share of the rows whose largest output is that of their own class; of classes with equal outputs the first
    /// counts. For data that x was not fitted to, use perceptron(those, hidden(), 0, classes()).
    double accuracy(std::span<T const> x) const {
        std::size_t hits = 0;
        forward(row_choice::all(samples()), x, [&](block& b) {
            for (Eigen::Index r = 0; r < b.outputs.rows(); ++r) {
                auto const z = b.outputs_of(r);
                hits += std::max_element(z.begin(), z.end()) - z.begin() == std::ptrdiff_t(right(b.row(r)));
            }
        });
        return double(hits) / double(samples());
    }

    /// Writes the gradient at x to g.
    void gradient(std::span<T const> x, std::span<T> g) const { backward(row_choice::all(samples()), x, g); }

    /// Writes the gradient at x to g and returns f(x).
    double value_and_gradient(std::span<T const> x, std::span<T> g) const {
        return backward(row_choice::all(samples()), x, g) + penalty(x);
    }

    /// Writes the mean of grad f_j at x over the listed rows to g, f_j being row j's summand with the whole penalty:
    /// the bits of gradient(x, g) where every row is listed once, in order. At least one row, each below samples().
    void batch_gradient(std::span<std::uint32_t const> rows, std::span<T const> x, std::span<T> g) const {
        LACONIC_EXPECTS(!rows.empty());
        backward(row_choice::of(rows), x, g);
    }

    /// Writes (Hessian at x) v to out, by derivatives along v (Pearlmutter 1994), in about three gradients' time; with
    /// relu it is that of the smooth piece on which x lies.
    void hessian_times(std::span<T const> x, std::span<T const> v, std::span<T> out) const {
        LACONIC_EXPECTS(x.size() == dimension() && v.size() == dimension() && out.size() == dimension());
        thread_local std::vector<T> parameters, direction, products, room;
        auto const at = parts_of(detail::aligned_copy(parameters, x));
        auto const along = parts_of(detail::aligned_copy(direction, v));
        auto const sums = detail::aligned(products, out.size());
        std::fill(sums.begin(), sums.end(), T(0));
        auto to = parts_of(sums);
        auto const m = at.first.rows(), k = at.second.rows();
        T* const p = detail::aligned(room, height * static_cast<std::size_t>(2 * m + k)).data();
        forward(row_choice::all(samples()), x, [&](block& b) {
            auto const count = b.hidden.rows();
            Eigen::Map<matrix> inner(p, count, m), hidden(p + count * m, count, m),
                outputs(p + 2 * count * m, count, k);
            inner.rowwise() = along.first_bias;
            detail::add_product(inner, b.inputs, along.first.transpose());
            hidden = inner;
            Act::multiply_by_slope(hidden, b.hidden);
            outputs.rowwise() = along.second_bias;
            detail::add_product(outputs, b.hidden, along.second.transpose());
            detail::add_product(outputs, hidden, at.second.transpose());
            b.losses(*this);
            for (Eigen::Index r = 0; r < count; ++r) {  // (diag(p) - p p') times the outputs' derivative
                auto const own = static_cast<Eigen::Index>(right(b.row(r)));
                b.outputs(r, own) += 1;
                T const mean = b.outputs.row(r).dot(outputs.row(r));
                outputs.row(r).array() = b.outputs.row(r).array() * (outputs.row(r).array() - mean);
                b.outputs(r, own) -= 1;
            }
            detail::add_product(to.second, outputs.transpose(), b.hidden);
            detail::add_product(to.second, b.outputs.transpose(), hidden);
            to.second_bias += outputs.colwise().sum();
            b.back.setZero();
            detail::add_product(b.back, b.outputs, at.second);
            inner.array() *= b.back.array();
            Act::multiply_by_bend(inner, b.hidden);
            hidden.setZero();
            detail::add_product(hidden, outputs, at.second);
            detail::add_product(hidden, b.outputs, along.second);
            Act::multiply_by_slope(hidden, b.hidden);
            inner += hidden;
            detail::add_product(to.first, inner.transpose(), b.inputs);
            to.first_bias += inner.colwise().sum();
        });
        write_mean(sums, samples(), v, out);
    }

    /// A bound on the smoothness of every f_j, and so of f, where |x| <= radius: f has none everywhere. Only for smooth
    /// activations: with relu the gradient jumps.
    ///
    /// Let s^2 = 1 + max |a_j|^2 and move (W, b) by p and (W', b') by q in norm, p^2 + q^2 = 1. As |act u| <= |u| and
    /// act' <= 1, the outputs z move by at most q sqrt(1 + s^2 |(W, b)|^2) + p s |W'| <= sqrt(1 + s^2 radius^2), and
    /// their second derivative is at most 2 s p q + c s^2 radius p^2 with c = max |act''|: the largest eigenvalue of
    /// ((c s^2 radius, s), (s, 0)). The loss has slopes of norm at most sqrt 2 in z, and a second derivative of at most
    /// 1/2.
    double smoothness_within(double radius) const requires(Act::smooth) {
        LACONIC_EXPECTS(radius >= 0);
        double const square = 1 + rows_.largest_square(), c = Act::largest_bend * square * radius;
        return (1 + square * radius * radius) / 2 + (c + std::sqrt(c * c + 4 * square)) / std::sqrt(2.0) + lambda_;
    }

  private:
    using matrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

    static constexpr std::size_t height = 64;

    // Rows of the data that are processed together, in scratch memory.
    struct block {
        Eigen::Map<matrix> inputs, hidden, back, outputs;
        row_choice rows;
        std::size_t begin;

        std::size_t row(Eigen::Index r) const { return rows[begin + std::size_t(r)]; }
        std::span<T> outputs_of(Eigen::Index r) {
            return {outputs.row(r).data(), static_cast<std::size_t>(outputs.cols())};
        }
        // Returns the sum of the losses, and replaces the outputs by their slopes.
        double losses(perceptron const& of) {
            double sum = 0;
            for (Eigen::Index r = 0; r < outputs.rows(); ++r) sum += cross_entropy(outputs_of(r), of.right(row(r)));
            return sum;
        }
    };

    std::uint32_t right(std::size_t j) const { return (*places_)[j]; }

    template <class U>
    auto parts_of(std::span<U> x) const {
        return detail::perceptron_parts(x, features(), hidden_, classes_.size());
    }

    double penalty(std::span<T const> x) const {
        double sum = 0;
        for (auto const m : matrices())
            for (auto const xi : x.subspan(m.offset, m.size())) sum += double(xi) * double(xi);
        return lambda_ / 2 * sum;
    }

    // Passes blocks of rows through both layers; then(b) finds the predictions in b.outputs.
    template <class Then>
    void forward(row_choice rows, std::span<T const> x, Then&& then) const {
        LACONIC_EXPECTS(x.size() == dimension());
        thread_local std::vector<T> parameters, room;
        auto const [first, first_bias, second, second_bias] = parts_of(detail::aligned_copy(parameters, x));
        auto const n = first.cols(), m = first.rows(), k = second.rows();
        auto const blocks = detail::aligned(room, height * static_cast<std::size_t>(n + 2 * m + k));

        for (std::size_t begin = 0; begin < rows.size(); begin += height) {
            auto const count = static_cast<Eigen::Index>(std::min(height, rows.size() - begin));
            T* const p = blocks.data();
            block b{{p, count, n},
                    {p + count * n, count, m},
                    {p + count * (n + m), count, m},
                    {p + count * (n + 2 * m), count, k},
                    rows,
                    begin};
            b.inputs.setZero();
            for (Eigen::Index r = 0; r < count; ++r)
                rows_[b.row(r)].add_to(std::span<T>(b.inputs.row(r).data(), features()), 1);
            b.hidden.rowwise() = first_bias;
            detail::add_product(b.hidden, b.inputs, first.transpose());
            Act::apply(b.hidden);
            b.outputs.rowwise() = second_bias;
            detail::add_product(b.outputs, b.hidden, second.transpose());
            then(b);
        }
    }

    // Writes the mean gradient over the rows to g and returns the mean loss, without the penalty.
    double backward(row_choice rows, std::span<T const> x, std::span<T> g) const {
        LACONIC_EXPECTS(g.size() == dimension());
        thread_local std::vector<T> parameters, slopes;
        auto const sums = detail::aligned(slopes, g.size());
        std::fill(sums.begin(), sums.end(), T(0));
        auto const at = parts_of(detail::aligned_copy(parameters, x));
        auto slope = parts_of(sums);
        exact_sum sum;
        forward(rows, x, [&](block& b) {
            sum.add(b.losses(*this));
            detail::add_product(slope.second, b.outputs.transpose(), b.hidden);
            slope.second_bias += b.outputs.colwise().sum();
            b.back.setZero();
            detail::add_product(b.back, b.outputs, at.second);
            Act::multiply_by_slope(b.back, b.hidden);
            detail::add_product(slope.first, b.back.transpose(), b.inputs);
            slope.first_bias += b.back.colwise().sum();
        });
        write_mean(sums, rows.size(), x, g);
        return sum.total() / double(rows.size());
    }
    // g <- sums / count, + the slope of the penalty at x.
    void write_mean(std::span<T const> sums, std::size_t count, std::span<T const> x, std::span<T> g) const {
        for (std::size_t i = 0; i < g.size(); ++i) g[i] = static_cast<T>(double(sums[i]) / double(count));
        if (lambda_ > 0)
            for (auto const m : matrices())
                for (std::size_t i = m.offset; i < m.offset + m.size(); ++i)
                    g[i] += static_cast<T>(lambda_ * double(x[i]));
    }

    shared_rows<T> rows_;
    std::vector<T> classes_;
    std::shared_ptr<std::vector<std::uint32_t> const> places_;
    std::size_t hidden_;
    double lambda_;
};

}  // namespace laconic
