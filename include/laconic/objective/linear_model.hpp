// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <array>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>

#include "laconic/objective/exact_sum.hpp"
#include "laconic/objective/shared_rows.hpp"
#include "laconic/objective/used_columns.hpp"

namespace laconic {

/// The cost of one coordinate of x, which a weight lambda multiplies: its value, its first two derivatives (slope and
/// bend), and the range of the second one.
template <class P>
concept Penalty = requires(double x) {
    { P::value(x) } -> std::same_as<double>;
    { P::slope(x) } -> std::same_as<double>;
    { P::bend(x) } -> std::same_as<double>;
    { P::largest_bend } -> std::convertible_to<double>;
    { P::smallest_bend } -> std::convertible_to<double>;
};

/// x^2 / 2: convex, with the second derivative 1 everywhere.
struct squared_penalty {
    static constexpr double largest_bend = 1, smallest_bend = 1;

    static double value(double x) { return x * x / 2; }
    static double slope(double x) { return x; }
    static double bend(double) { return 1; }
};

/// x^2 / (1 + x^2), below 1 however large x is: the nonconvex penalty of EF21's experiments (Richtarik, Sokolov,
/// Fatkhullin 2021). Its second derivative is 2 at x = 0 and -1/2, the least, at |x| = 1.
struct bounded_penalty {
    static constexpr double largest_bend = 2, smallest_bend = -0.5;

    // w = 1 / (1 + x^2) is in (0, 1], and 0 where x^2 overflows: nothing else overflows here.
    static double value(double x) { return std::abs(x) <= 1 ? x * x / (1 + x * x) : 1 - 1 / (1 + x * x); }
    static double slope(double x) {
        double const w = 1 / (1 + x * x);
        return 2 * (x * w) * w;
    }
    static double bend(double x) {
        double const w = 1 / (1 + x * x);
        return w * w * (8 * w - 6);
    }
};

namespace detail {

// lambda sum_i penalty(x_i)
template <Penalty Cost, class T>
double penalty_of(double lambda, std::span<T const> x) {
    double sum = 0;
    for (auto const xi : x) sum += Cost::value(double(xi));
    return lambda * sum;
}

}  // namespace detail

/// The loss of a prediction z for the label y, convex in z: its value and slope, its second derivative in z (bend),
/// bounds on that, and the labels that it takes.
template <class L>
concept Loss = requires(double z, double y, std::pair<double, double> both) {
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
            throw argument_error({rows.data().name, ": the label ", rows.label(j), " is not ", Each::labels});
}

/// f(x) = (1/N) sum_j loss_j(z_j) + lambda sum_i penalty(x_i) over N rows a_j with labels y_j, whose predictions z_j
/// are linear in x: what linear_model and softmax have in common. A FusedObjective with products of its Hessian, a
/// SmoothFiniteSum and GeneralisedLinear.
///
/// Copies are cheap and share the data. All members are const, safe to call from several threads, and sum in a fixed
/// order: the same bits in every run of one build. x, g, v and out hold dimension() numbers (else the contract is
/// broken). "A pass" is one over the non-zeros of the data, with 4 operations for each output. Only the constants, and
/// a linear model's Hessian, allocate; and, in a thread's first call, softmax 2 k numbers and a linear model with 2^16
/// or more features 2 d.
///
/// Model derives from it and has, besides outputs(), largest_bend and smallest_bend,
///   predict(a, x, z)      writes the predictions of row a to z;
///   add(a, s, w, g)       g += w a s';
///   loss(j, z)            returns row j's loss at z, and replaces z by its slopes;
///   bend(j, z, v)         v <- H v for the Hessian H of row j's loss at z, which it may replace;
///   scratch()             memory for 2 outputs() numbers.
template <class Model, Scalar T, Penalty Cost>
class row_objective {
  public:
    /// The features times the outputs.
    std::size_t dimension() const { return rows_.features() * self().outputs(); }
    /// N, the number of rows.
    std::size_t samples() const { return rows_.size(); }
    double lambda() const { return lambda_; }
    dataset<T> const& data() const { return rows_.data(); }
    /// f(x), in one pass of half the operations.
    double value(std::span<T const> x) const {
        LACONIC_EXPECTS(x.size() == dimension());
        auto room = self().scratch();
        auto const z = std::span<double>(room).first(self().outputs());
        exact_sum sum;
        for (std::size_t j = 0; j < samples(); ++j) {
            self().predict(rows_[j], x, z);
            sum.add(self().loss(j, z));
        }
        return sum.total() / double(samples()) + penalty(x);
    }
    /// Writes the gradient at x to g, in one pass.
    void gradient(std::span<T const> x, std::span<T> g) const {
        mean_gradient(row_choice::all(samples()), x, g, [](double) {});
    }
    /// Writes the gradient at x to g and returns f(x), in one pass.
    double value_and_gradient(std::span<T const> x, std::span<T> g) const {
        exact_sum sum;
        mean_gradient(row_choice::all(samples()), x, g, [&](double loss) { sum.add(loss); });
        return sum.total() / double(samples()) + penalty(x);
    }
    /// Writes the mean of grad f_j at x over the listed rows to g, f_j being row j's summand with the whole penalty:
    /// the bits of gradient(x, g) where every row is listed once, in order. At least one row, each below samples().
    void batch_gradient(std::span<std::uint32_t const> rows, std::span<T const> x, std::span<T> g) const {
        LACONIC_EXPECTS(!rows.empty());
        mean_gradient(row_choice::of(rows), x, g, [](double) {});
    }
    /// Writes the derivatives of sample j's loss in its predictions to s, outputs() numbers.
    void slopes(std::size_t j, std::span<T const> x, std::span<double> s) const {
        LACONIC_EXPECTS(x.size() == dimension() && s.size() == self().outputs());
        self().predict(rows_[j], x, s);
        self().loss(j, s);
    }
    /// g += w a_j s', s being outputs() numbers: of the features times the outputs as x is.
    void add_row(std::size_t j, std::span<double const> s, double w, std::span<T> g) const {
        LACONIC_EXPECTS(s.size() == self().outputs() && g.size() == dimension());
        self().add(rows_[j], s, w, g);
    }
    /// g += the gradient of the penalty at x, in a pass over d.
    void add_penalty_gradient(std::span<T const> x, std::span<T> g) const {
        LACONIC_EXPECTS(x.size() == dimension() && g.size() == dimension());
        for (std::size_t i = 0; i < g.size(); ++i) g[i] += static_cast<T>(lambda_ * Cost::slope(double(x[i])));
    }
    /// Writes (Hessian at x) v to out, in one pass of one and a half times the operations.
    void hessian_times(std::span<T const> x, std::span<T const> v, std::span<T> out) const {
        LACONIC_EXPECTS(v.size() == dimension());
        auto room = self().scratch();
        auto const moved = std::span<double>(room).last(self().outputs());
        auto const change = [&](std::size_t j, std::span<double> z) {
            self().predict(rows_[j], v, moved);
            self().bend(j, z, moved);
            std::copy(moved.begin(), moved.end(), z.begin());
        };
        auto const bend = [&](std::size_t i) { return Cost::bend(double(x[i])) * double(v[i]); };
        mean_of_rows(row_choice::all(samples()), x, out, change, bend);
    }
    /// L = (largest second derivative of the loss) (largest eigenvalue of A'A / N) + lambda (largest second derivative
    /// of the penalty), to about 1e-14 of itself. The first call, for this or a copy, takes some tens of passes; later
    /// ones O(1).
    double smoothness() const {
        return Model::largest_bend * rows_.largest_eigenvalue() + lambda_ * Cost::largest_bend;
    }
    /// max_j L_j = (largest second derivative of the loss) max_j |a_j|^2 + lambda (that of the penalty), in one pass.
    double sample_smoothness() const {
        return Model::largest_bend * rows_.largest_square() + lambda_ * Cost::largest_bend;
    }
    /// mu = (smallest second derivative of the loss) (smallest eigenvalue of A'A / N) + lambda (that of the penalty),
    /// off by about 1e-15 L; below 0 where the penalty outweighs the loss. The loss of logistic and of softmax
    /// regression has the smallest second derivative 0, and above 1024 features the eigenvalue is taken as 0: mu is the
    /// second summand then. Else the first call, for this or a copy, takes an eigen-decomposition; later ones O(1).
    double strong_convexity() const {
        double const of_penalty = lambda_ * Cost::smallest_bend;
        if constexpr (Model::smallest_bend == 0)
            return of_penalty;
        else
            return Model::smallest_bend * rows_.smallest_eigenvalue() + of_penalty;
    }

  protected:
    row_objective(dataset<T> data, double lambda) : rows_(std::move(data)), lambda_(checked_lambda(lambda)) {}

    shared_rows<T> rows_;
    double lambda_;
    std::shared_ptr<used_columns<T> const> used_;  // of one output, where x and g are too long for a cache

  private:
    Model const& self() const { return static_cast<Model const&>(*this); }
    double penalty(std::span<T const> x) const { return penalty_of<Cost>(lambda_, x); }
    // use(the loss of a row), which need not be computed where it is not used
    void mean_gradient(row_choice rows, std::span<T const> x, std::span<T> g, auto&& use) const {
        auto const change = [&](std::size_t j, std::span<double> z) { use(self().loss(j, z)); };
        mean_of_rows(rows, x, g, change, [&](std::size_t i) { return Cost::slope(double(x[i])); });
    }
    // out = the mean over the rows of a_j z', z being the predictions, which change(j, z) replaces; + lambda extra(i)
    void mean_of_rows(row_choice rows, std::span<T const> x, std::span<T> out, auto&& change, auto&& extra) const {
        LACONIC_EXPECTS(x.size() == dimension() && out.size() == dimension());
        double const share = 1 / double(rows.size());
        for (std::size_t i = 0; i < out.size(); ++i) out[i] = static_cast<T>(lambda_ * extra(i));
        if (used_ && !rows.list)
            return used_->add_rows(rows_, x, out, [&](std::size_t j, double z) {
                change(j, std::span(&z, 1));
                return share * z;
            });
        auto room = self().scratch();
        auto const z = std::span<double>(room).first(self().outputs());
        for (std::size_t k = 0; k < rows.size(); ++k) {
            auto const row = rows_[rows[k]];
            self().predict(row, x, z);
            change(rows[k], z);
            self().add(row, z, share, out);
        }
    }
};

}  // namespace detail

/// f(x) = (1/N) sum_j loss(a_j . x, y_j) + lambda sum_i penalty(x_i) over N rows a_j with labels y_j, without an
/// intercept; the penalty is (lambda/2) |x|^2 unless another is named. One output, and a Hessian; all else that it has
/// is in row_objective.
template <Loss Each, Scalar T = double, Penalty Cost = squared_penalty>
class linear_model : public detail::row_objective<linear_model<Each, T, Cost>, T, Cost> {
    using base = detail::row_objective<linear_model, T, Cost>;
    friend base;
    using base::rows_, base::lambda_;

  public:
    static constexpr double largest_bend = Each::largest_bend, smallest_bend = Each::smallest_bend;
    /// Whether the Hessian is the same everywhere, as that of ridge regression.
    static constexpr bool constant_hessian = smallest_bend == largest_bend && Cost::smallest_bend == Cost::largest_bend;

    /// Throws argument_error where lambda is negative or not finite, where there are no rows or no features, or where
    /// the loss does not take a label; shape_error where there are more or fewer labels than rows.
    linear_model(dataset<T> data, double lambda) : base(std::move(data), lambda) {
        detail::check_labels<Each>(rows_);
        if (rows_.features() >= 1 << 16) base::used_ = std::make_shared<detail::used_columns<T> const>(rows_);
    }

    std::size_t outputs() const { return 1; }
    /// Writes the d x d Hessian at x, both triangles. The memory traffic of two passes; the operations are the fewer of
    /// N d^2 / 2 and about ten times the sum over the rows of their non-zeros squared.
    void hessian(std::span<T const> x, Eigen::MatrixXd& out) const {
        LACONIC_EXPECTS(x.size() == rows_.features());
        auto const bend_of = [&](std::size_t j) {
            return Each::bend(rows_[j].dot(x), rows_.label(j)) / double(rows_.size());
        };
        weighted_gram(rows_.data().rows, bend_of, out);
        for (std::size_t i = 0; i < x.size(); ++i) {
            auto const at = static_cast<Eigen::Index>(i);
            out(at, at) += lambda_ * Cost::bend(double(x[i]));
        }
    }

  private:
    std::array<double, 2> scratch() const { return {}; }
    static void predict(row_view<T> a, std::span<T const> x, std::span<double> z) { z[0] = a.dot(x); }
    static void add(row_view<T> a, std::span<double const> s, double w, std::span<T> g) { a.add_to(g, w * s[0]); }
    double loss(std::size_t j, std::span<double> z) const {
        auto const [value, slope] = Each::value_and_slope(z[0], rows_.label(j));
        z[0] = slope;
        return value;
    }
    void bend(std::size_t j, std::span<double> z, std::span<double> v) const {
        v[0] *= Each::bend(z[0], rows_.label(j));
    }
};

}  // namespace laconic
