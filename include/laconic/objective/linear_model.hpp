// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "laconic/core/contract.hpp"
#include "laconic/core/error.hpp"
#include "laconic/core/text.hpp"
#include "laconic/core/view.hpp"
#include "laconic/objective/dataset.hpp"
#include "laconic/objective/exact_sum.hpp"
#include "laconic/objective/gram.hpp"
#include "laconic/objective/penalty.hpp"
#include "laconic/objective/shared_rows.hpp"

namespace laconic {

/// The loss of a prediction z for the label y, convex in z: its value, its first two derivatives in z (slope and bend),
/// bounds on the second one, and the labels that it takes.
template <class L>
concept Loss = requires(double z, double y, std::pair<double, double> both) {
    { L::value(z, y) } -> std::same_as<double>;
    { L::value_and_slope(z, y) } -> std::same_as<decltype(both)>;
    { L::bend(z, y) } -> std::same_as<double>;
    { L::largest_bend } -> std::convertible_to<double>;
    { L::smallest_bend } -> std::convertible_to<double>;
    { L::accepts(y) } -> std::same_as<bool>;
    { L::labels } -> std::convertible_to<char const*>;
};

namespace detail {

template <Loss Each, Scalar T>
void check_labels(shared_rows<T> const& rows) {
    for (std::size_t j = 0; j < rows.size(); ++j)
        if (!Each::accepts(rows.label(j)))
            throw argument_error(
                concat(text_pieces{rows.data().name, ": the label ", rows.label(j), " is not ", Each::labels}));
}

}  // namespace detail

/// f(x) = (1/N) sum_j loss(a_j . x, y_j) + lambda sum_i penalty(x_i) over N rows a_j with labels y_j, without an
/// intercept; the penalty is (lambda/2) |x|^2 unless another is named. A FusedObjective with a Hessian, a
/// SmoothFiniteSum and GeneralisedLinear, with one output.
///
/// Copies are cheap and share the data. All members are const, safe to call from several threads, and sum in a fixed
/// order: the same bits in every run of one build. x, g, v and out hold dimension() numbers (else the contract is
/// broken). "A pass" is one over the non-zeros of the data; only hessian, smoothness and strong_convexity allocate.
template <Loss Each, Scalar T = double, Penalty Cost = squared_penalty>
class linear_model {
  public:
    /// Whether the Hessian is the same everywhere, as that of ridge regression.
    static constexpr bool constant_hessian =
        Each::smallest_bend == Each::largest_bend && Cost::smallest_bend == Cost::largest_bend;

    /// Throws argument_error where lambda is negative or not finite, where there are no rows or no features, or where
    /// the loss does not take a label; shape_error where there are more or fewer labels than rows.
    linear_model(dataset<T> data, double lambda) : rows_(std::move(data)), lambda_(detail::checked_lambda(lambda)) {
        detail::check_labels<Each>(rows_);
    }

    std::size_t dimension() const { return rows_.features(); }
    /// N, the number of rows.
    std::size_t samples() const { return rows_.size(); }
    double lambda() const { return lambda_; }
    dataset<T> const& data() const { return rows_.data(); }

    /// f(x), in one pass.
    double value(std::span<T const> x) const {
        LACONIC_EXPECTS(x.size() == dimension());
        exact_sum sum;
        for (std::size_t j = 0; j < samples(); ++j) sum.add(Each::value(rows_[j].dot(x), rows_.label(j)));
        return sum.total() / double(samples()) + penalty(x);
    }

    /// Writes the gradient at x to g, in one pass.
    void gradient(std::span<T const> x, std::span<T> g) const { mean_gradient(row_choice::all(samples()), x, g); }

    /// Writes the gradient at x to g and returns f(x), in one pass.
    double value_and_gradient(std::span<T const> x, std::span<T> g) const {
        exact_sum sum;
        auto const slope = [&](double z, std::size_t j) {
            auto const [value, its_slope] = Each::value_and_slope(z, rows_.label(j));
            sum.add(value);
            return its_slope;
        };
        mean_of_rows(row_choice::all(samples()), x, g, slope, penalty_slope(x));
        return sum.total() / double(samples()) + penalty(x);
    }

    /// Writes the mean of grad f_j at x over the listed rows to g, where f_j(x) = loss(a_j . x, y_j) + the penalty: the
    /// bits of gradient(x, g) where every row is listed once, in order. At least one row, each below samples().
    void batch_gradient(std::span<std::uint32_t const> rows, std::span<T const> x, std::span<T> g) const {
        LACONIC_EXPECTS(!rows.empty());
        mean_gradient(row_choice::of(rows), x, g);
    }

    /// The number of predictions of a sample: 1.
    std::size_t outputs() const { return 1; }

    /// Writes the derivative of sample j's loss in a_j . x to s, one number.
    void slopes(std::size_t j, std::span<T const> x, std::span<double> s) const {
        LACONIC_EXPECTS(x.size() == dimension() && s.size() == 1);
        s[0] = Each::value_and_slope(rows_[j].dot(x), rows_.label(j)).second;
    }

    /// g += w s_0 a_j.
    void add_row(std::size_t j, std::span<double const> s, double w, std::span<T> g) const {
        LACONIC_EXPECTS(s.size() == 1 && g.size() == dimension());
        rows_[j].add_to(g, w * s[0]);
    }

    /// g += the gradient of the penalty at x, in a pass over d.
    void add_penalty_gradient(std::span<T const> x, std::span<T> g) const {
        LACONIC_EXPECTS(x.size() == dimension() && g.size() == dimension());
        for (std::size_t i = 0; i < g.size(); ++i) g[i] += static_cast<T>(lambda_ * Cost::slope(double(x[i])));
    }

    /// Writes the d x d Hessian at x, both triangles. The memory traffic of two passes; the operations are the fewer of
    /// N d^2 / 2 and about ten times the sum over the rows of their non-zeros squared.
    void hessian(std::span<T const> x, Eigen::MatrixXd& out) const {
        LACONIC_EXPECTS(x.size() == dimension());
        auto const bend = [&](std::size_t j) {
            return Each::bend(rows_[j].dot(x), rows_.label(j)) / double(samples());
        };
        weighted_gram(data().rows, bend, out);
        for (std::size_t i = 0; i < dimension(); ++i) {
            auto const at = static_cast<Eigen::Index>(i);
            out(at, at) += lambda_ * Cost::bend(double(x[i]));
        }
    }

    /// Writes (Hessian at x) v to out, in one pass.
    void hessian_times(std::span<T const> x, std::span<T const> v, std::span<T> out) const {
        LACONIC_EXPECTS(v.size() == dimension());
        auto const factor = [&](double z, std::size_t j) { return Each::bend(z, rows_.label(j)) * rows_[j].dot(v); };
        auto const bend = [&](std::size_t i) { return Cost::bend(double(x[i])) * double(v[i]); };
        mean_of_rows(row_choice::all(samples()), x, out, factor, bend);
    }

    /// L = (largest second derivative of the loss) (largest eigenvalue of A'A / N) + lambda (largest second derivative
    /// of the penalty), to about 1e-14 of itself. The first call, for this or a copy, takes some tens of passes; later
    /// ones O(1).
    double smoothness() const { return Each::largest_bend * rows_.largest_eigenvalue() + lambda_ * Cost::largest_bend; }

    /// max_j L_j = (largest second derivative of the loss) max_j |a_j|^2 + lambda (that of the penalty), in one pass.
    double sample_smoothness() const {
        return Each::largest_bend * rows_.largest_square() + lambda_ * Cost::largest_bend;
    }

    /// mu = (smallest second derivative of the loss) (smallest eigenvalue of A'A / N) + lambda (that of the penalty),
    /// off by about 1e-15 L; below 0 where the penalty outweighs the loss. The logistic loss has the smallest second
    /// derivative 0, and above 1024 features the eigenvalue is taken as 0: mu is the second summand then. Else the
    /// first call, for this or a copy, takes an eigen-decomposition; later ones O(1).
    double strong_convexity() const {
        double const of_penalty = lambda_ * Cost::smallest_bend;
        if constexpr (Each::smallest_bend == 0)
            return of_penalty;
        else
            return Each::smallest_bend * rows_.smallest_eigenvalue() + of_penalty;
    }

  private:
    double penalty(std::span<T const> x) const {
        double sum = 0;
        for (auto const xi : x) sum += Cost::value(double(xi));
        return lambda_ * sum;
    }
    auto penalty_slope(std::span<T const> x) const {
        return [x](std::size_t i) { return Cost::slope(double(x[i])); };
    }

    void mean_gradient(row_choice rows, std::span<T const> x, std::span<T> g) const {
        auto const slope = [this](double z, std::size_t j) { return Each::value_and_slope(z, rows_.label(j)).second; };
        mean_of_rows(rows, x, g, slope, penalty_slope(x));
    }

    // out = the mean over the rows of factor(a_j . x, j) a_j, + lambda extra(i)
    template <class Factor, class Extra>
    void mean_of_rows(row_choice rows, std::span<T const> x, std::span<T> out, Factor&& factor, Extra&& extra) const {
        LACONIC_EXPECTS(x.size() == dimension() && out.size() == dimension());
        std::fill(out.begin(), out.end(), T(0));
        for (std::size_t k = 0; k < rows.size(); ++k) {
            auto const row = rows_[rows[k]];
            row.add_to(out, factor(row.dot(x), rows[k]));
        }
        for (std::size_t i = 0; i < out.size(); ++i)
            out[i] = static_cast<T>(double(out[i]) / double(rows.size()) + lambda_ * extra(i));
    }

    shared_rows<T> rows_;
    double lambda_;
};

}  // namespace laconic
