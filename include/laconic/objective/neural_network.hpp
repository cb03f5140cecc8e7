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

#include "laconic/objective/activation.hpp"
#include "laconic/objective/exact_sum.hpp"
#include "laconic/objective/network_block.hpp"
#include "laconic/objective/objective.hpp"
#include "laconic/objective/output_loss.hpp"

namespace laconic {

/// A network of any number of dense layers: f(x) = (1/N) sum_j loss_j(z_j) + (lambda/2) (the sum of the squares of all
/// weights) over N rows a_j, which the caller has brought to a common scale, where h_0 = a_j, h_l = act(W_l h_(l-1) +
/// b_l) for the hidden layers 1 to L, and z_j = W_(L+1) h_L + b_(L+1). Without a hidden layer it is linear. A
/// FusedObjective and a FiniteSum.
///
/// x holds, layer after layer: W_l, one row of weights for each unit, row after row; then b_l. matrices() returns the
/// places of the W_l.
///
/// Copies share the data. All members are const, safe to call from several threads, and sum in a fixed order: the same
/// bits in every run of one build. x and g hold dimension() numbers (else the contract is broken). Rows are processed
/// in blocks of 64, as matrix products: about 6 operations a weight and row for a gradient, a third of them for a
/// value. A thread's first call allocates scratch memory for one block; later ones allocate only for a larger network.
template <OutputLoss Loss, Scalar T = double, Activation Act = activation::relu>
class neural_network {
  public:
    /// `hidden` is the number of units of each hidden layer. Throws argument_error where there are no rows or features,
    /// where a layer has no units, where lambda is negative or not finite, or where x would have 2^32 numbers or more;
    /// shape_error where there are more or fewer labels than rows.
    neural_network(dataset<T> data, std::vector<std::size_t> hidden, Loss loss, double lambda = 0)
        : neural_network(shared_rows<T>(std::move(data)), std::move(hidden), std::move(loss), lambda) {}
    /// The same over data that several networks share.
    neural_network(shared_rows<T> rows, std::vector<std::size_t> hidden, Loss loss, double lambda = 0)
        : rows_(std::move(rows)), loss_(std::move(loss)), lambda_(detail::checked_lambda(lambda)) {
        if (loss_.rows() != rows_.size())
            throw shape_error({rows_.data().name, ": ", rows_.size(), " rows, but a loss of ", loss_.rows()});
        hidden.push_back(loss_.outputs());
        std::size_t inputs = rows_.features();
        for (auto const units : hidden) {
            if (units == 0) throw argument_error(rows_.data().name + ": a layer without units");
            if (units > (detail::largest_dimension - dimension_) / (inputs + 1))
                throw argument_error(
                    {rows_.data().name, ": a layer of ", units, " units makes more numbers than a vector can hold"});
            matrices_.push_back({dimension_, units, inputs});
            dimension_ += units * (inputs + 1);
            inputs = units;
        }
    }

    std::size_t features() const { return rows_.features(); }
    /// The sum over the layers of units (inputs + 1).
    std::size_t dimension() const { return dimension_; }
    /// N, the number of rows.
    std::size_t samples() const { return rows_.size(); }
    /// The number of outputs of a row.
    std::size_t outputs() const { return matrices_.back().rows; }
    /// The number of hidden layers.
    std::size_t depth() const { return matrices_.size() - 1; }
    double lambda() const { return lambda_; }
    dataset<T> const& data() const { return rows_.data(); }
    Loss const& loss() const { return loss_; }

    /// The places of the W_l in x and g; the biases of a layer stand behind its matrix.
    std::span<matrix_block const> matrices() const { return matrices_; }

    /// A starting point: weights uniform around 0, those of layer l from child l - 1 of the key, up to the bound that
    /// `hidden(inputs, outputs)` returns for hidden layers, and up to that of Glorot and Bengio (2010) for the last;
    /// biases 0.
    std::vector<T> initial_point(key from, double (*hidden)(double, double) = Act::first_weight) const {
        std::vector<T> x(dimension());
        for (std::size_t l = 0; l < matrices_.size(); ++l) {
            auto const to = matrices_[l];
            auto const bound = l + 1 < matrices_.size() ? hidden : activation::tanh::first_weight;
            double const largest = bound(double(to.columns), double(to.rows));
            auto const mine = from.child(l);
            for (std::size_t i = 0; i < to.size(); ++i) x[to.offset + i] = T(largest * (2 * mine.uniform(i) - 1));
        }
        return x;
    }

    /// f(x).
    double value(std::span<T const> x) const {
        exact_sum sum;
        forward(row_choice::all(samples()), x, [&](block& b) { sum.add(losses(b)); });
        return sum.total() / double(samples()) + penalty(x);
    }

    /// Writes the outputs of all rows to z, row after row: samples() outputs() numbers.
    void predict(std::span<T const> x, std::span<T> z) const {
        LACONIC_EXPECTS(z.size() == samples() * outputs());
        forward(row_choice::all(samples()), x, [&](block& b) {
            auto all = b.last();
            std::copy_n(all.data(), all.size(), z.begin() + static_cast<std::ptrdiff_t>(b.begin * outputs()));
        });
    }

    /// The share of the rows whose largest output is that of their own class; of classes with equal outputs the first
    /// counts.
    double accuracy(std::span<T const> x) const requires requires(Loss const& l) { l.right(0); }
    {
        std::size_t hits = 0;
        forward(row_choice::all(samples()), x, [&](block& b) {
            for (std::size_t r = 0; r < b.count; ++r) {
                auto const z = b.outputs_of(r);
                hits += std::max_element(z.begin(), z.end()) - z.begin() == std::ptrdiff_t(loss_.right(b.row(r)));
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
        auto const at = detail::aligned_copy(parameters, x), along = detail::aligned_copy(direction, v);
        auto const sums = detail::aligned(products, out.size());
        std::fill(sums.begin(), sums.end(), T(0));
        T* const memory = detail::aligned(room, height * block::width_of(matrices_)).data();
        std::size_t const n = matrices_.size();
        forward(row_choice::all(samples()), x, [&](block& b) {
            block d = b;  // derivatives along v: of what goes into a layer, and of the units before they are applied
            d.memory = memory;
            for (std::size_t l = 0; l < n; ++l) {
                auto units = l + 1 < n ? d.slopes_into(l + 1) : d.last();
                units.rowwise() = biases(along, l);
                detail::add_product(units, b.into(l), weights(along, l).transpose());
                if (l > 0) detail::add_product(units, d.into(l), weights(at, l).transpose());
                if (l + 1 == n) break;
                auto applied = d.into(l + 1);
                applied = units;
                Act::multiply_by_slope(applied, b.into(l + 1));
            }
            losses(b);
            for (std::size_t r = 0; r < b.count; ++r)
                loss_.multiply_by_bend(std::span<T const>(b.outputs_of(r)), b.row(r), d.outputs_of(r));
            for (std::size_t l = n; l-- > 0;) {
                auto const behind = l + 1 < n ? b.slopes_into(l + 1) : b.last();
                auto const change = l + 1 < n ? d.slopes_into(l + 1) : d.last();
                auto sum = weights(sums, l);
                detail::add_product(sum, change.transpose(), b.into(l));
                if (l > 0) detail::add_product(sum, behind.transpose(), d.into(l));
                biases(sums, l) += change.colwise().sum();
                if (l == 0) break;
                auto before = b.slopes_into(l), bent = d.slopes_into(l), next = d.into(l);
                before.setZero(), next.setZero();
                detail::add_product(before, behind, weights(at, l));
                detail::add_product(next, change, weights(at, l));
                detail::add_product(next, behind, weights(along, l));
                bent.array() *= before.array();
                Act::multiply_by_bend(bent, b.into(l));
                Act::multiply_by_slope(before, b.into(l));
                Act::multiply_by_slope(next, b.into(l));
                bent += next;
            }
        });
        write_mean(sums, samples(), v, out);
    }

  private:
    using block = detail::network_block<T>;
    using matrix = typename block::matrix;
    using row_vector = Eigen::Matrix<T, 1, Eigen::Dynamic>;

    static constexpr std::size_t height = 64;

    // W_l and b_l in x, or in a gradient.
    template <class U>
    auto weights(std::span<U> x, std::size_t l) const {
        using M = std::conditional_t<std::is_const_v<U>, matrix const, matrix>;
        auto const m = matrices_[l];
        return Eigen::Map<M>(x.data() + m.offset, static_cast<Eigen::Index>(m.rows),
                             static_cast<Eigen::Index>(m.columns));
    }
    template <class U>
    auto biases(std::span<U> x, std::size_t l) const {
        using V = std::conditional_t<std::is_const_v<U>, row_vector const, row_vector>;
        auto const m = matrices_[l];
        return Eigen::Map<V>(x.data() + m.offset + m.size(), static_cast<Eigen::Index>(m.rows));
    }

    double penalty(std::span<T const> x) const {
        double sum = 0;
        for (auto const m : matrices())
            for (auto const xi : x.subspan(m.offset, m.size())) sum += double(xi) * double(xi);
        return lambda_ / 2 * sum;
    }

    // Passes blocks of rows through all layers; then(b) finds the predictions in b.last().
    void forward(row_choice rows, std::span<T const> x, auto&& then) const {
        LACONIC_EXPECTS(x.size() == dimension());
        thread_local std::vector<T> parameters, room;
        auto const at = detail::aligned_copy(parameters, x);
        auto const memory = detail::aligned(room, height * block::width_of(matrices_));

        for (std::size_t begin = 0; begin < rows.size(); begin += height) {
            block b{matrices_, memory.data(), rows, begin, std::min(height, rows.size() - begin)};
            auto inputs = b.into(0);
            inputs.setZero();
            for (std::size_t r = 0; r < b.count; ++r)
                rows_[b.row(r)].add_to(std::span<T>(inputs.data() + r * features(), features()), 1);
            for (std::size_t l = 0; l < matrices_.size(); ++l) {
                auto out = b.into(l + 1);
                out.rowwise() = biases(at, l);
                detail::add_product(out, b.into(l), weights(at, l).transpose());
                if (l + 1 < matrices_.size()) Act::apply(out);
            }
            then(b);
        }
    }

    // Writes the mean gradient over the rows to g and returns the mean loss, without the penalty.
    double backward(row_choice rows, std::span<T const> x, std::span<T> g) const {
        LACONIC_EXPECTS(g.size() == dimension());
        thread_local std::vector<T> parameters, slopes;
        auto const at = detail::aligned_copy(parameters, x);
        auto const sums = detail::aligned(slopes, g.size());
        std::fill(sums.begin(), sums.end(), T(0));
        exact_sum sum;
        forward(rows, x, [&](block& b) {
            sum.add(losses(b));
            for (std::size_t l = matrices_.size(); l-- > 0;) {
                auto const behind = l + 1 < matrices_.size() ? b.slopes_into(l + 1) : b.last();
                detail::add_product(weights(sums, l), behind.transpose(), b.into(l));
                biases(sums, l) += behind.colwise().sum();
                if (l == 0) break;
                auto before = b.slopes_into(l);
                before.setZero();
                detail::add_product(before, behind, weights(at, l));
                Act::multiply_by_slope(before, b.into(l));
            }
        });
        write_mean(sums, rows.size(), x, g);
        return sum.total() / double(rows.size());
    }
    // g <- sums / count + lambda x, of the weights.
    void write_mean(std::span<T const> sums, std::size_t count, std::span<T const> x, std::span<T> g) const {
        for (std::size_t i = 0; i < g.size(); ++i) g[i] = static_cast<T>(double(sums[i]) / double(count));
        for (auto const m : matrices())
            for (std::size_t i = m.offset; lambda_ > 0 && i < m.offset + m.size(); ++i)
                g[i] += static_cast<T>(lambda_ * double(x[i]));
    }
    // Returns the sum of the losses of a block, and replaces the outputs by their slopes.
    double losses(block const& b) const {
        double sum = 0;
        for (std::size_t r = 0; r < b.count; ++r) sum += loss_.loss(b.outputs_of(r), b.row(r));
        return sum;
    }

    shared_rows<T> rows_;
    Loss loss_;
    double lambda_;
    std::size_t dimension_ = 0;
    std::vector<matrix_block> matrices_;
};

}  // namespace laconic
