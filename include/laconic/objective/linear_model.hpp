// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

#include "laconic/core/contract.hpp"
#include "laconic/core/error.hpp"
#include "laconic/core/term.hpp"
#include "laconic/core/text.hpp"
#include "laconic/core/view.hpp"
#include "laconic/objective/dataset.hpp"
#include "laconic/objective/gram.hpp"
#include "laconic/objective/spectrum.hpp"

namespace laconic {

/// How wrong a prediction z is where the label is y, convex in z: its value, its first two derivatives in z, a bound
/// on the second one, and which labels it knows.
template <class L>
concept Loss = requires(double z, double y, std::pair<double, double> both) {
    { L::value(z, y) } -> std::same_as<double>;
    { L::value_and_slope(z, y) } -> std::same_as<decltype(both)>;
    { L::bend(z, y) } -> std::same_as<double>;
    { L::largest_bend } -> std::convertible_to<double>;
    { L::smallest_bend } -> std::convertible_to<double>;
    { L::knows(y) } -> std::same_as<bool>;
    { L::labels } -> std::convertible_to<char const*>;
};

/// f(x) = (1/N) sum_j loss(a_j . x, y_j) + (lambda/2) |x|^2 over N rows a_j with labels y_j, without an intercept: a
/// FusedObjective and a SmoothObjective with a Hessian.
///
/// Copies are cheap and share the data. All members are const, safe to call from several threads, and sum in a fixed
/// order: the same bits in every run of one build. x, g, v and out hold dimension() numbers (else the contract is
/// broken). "A pass" is one over the non-zeros of the data; only hessian, smoothness and strong_convexity allocate.
template <Loss Each, Scalar T = double>
class linear_model {
  public:
    /// Throws argument_error where lambda is negative or not finite, where there are no rows or no features, or where
    /// a label is none that the loss knows; shape_error where there are more or fewer labels than rows.
    linear_model(dataset<T> data, double lambda) : lambda_(lambda) {
        if (!(lambda >= 0 && std::isfinite(lambda)))
            throw argument_error("lambda = " + shortest(lambda) + " is not a finite number of at least 0");
        if (data.samples() == 0 || data.features() == 0)
            throw argument_error(data.name + ": " + std::to_string(data.samples()) + " rows of " +
                                 std::to_string(data.features()) + " features make no objective");
        if (data.labels.size() != data.samples())
            throw shape_error(data.name + ": " + std::to_string(data.samples()) + " rows, but " +
                              std::to_string(data.labels.size()) + " labels");
        for (auto const label : data.labels)
            if (!Each::knows(double(label)))
                throw argument_error(data.name + ": the label " + shortest(double(label)) + " is not " + Each::labels);
        data.rows.makeCompressed();
        auto const* const columns = data.rows.innerIndexPtr();
        columns_ = std::make_shared<std::vector<coordinate> const>(columns, columns + data.rows.nonZeros());
        auto const mine = std::make_shared<dataset<T>>();
        std::swap(mine->name, data.name);
        mine->rows.swap(data.rows);  // a move would copy: Eigen 3.4 has none for sparse matrices
        std::swap(mine->labels, data.labels);
        data_ = mine;
    }

    std::size_t dimension() const { return data_->features(); }
    /// N, the number of rows.
    std::size_t samples() const { return data_->samples(); }
    double lambda() const { return lambda_; }
    dataset<T> const& data() const { return *data_; }

    /// f(x), in one pass.
    double value(std::span<T const> x) const {
        LACONIC_EXPECTS(x.size() == dimension());
        exact_sum sum;
        for (std::size_t j = 0; j < samples(); ++j) sum.add(Each::value(row(j).dot(x), label(j)));
        return sum.total() / double(samples()) + penalty(x);
    }

    /// Writes the gradient at x to g, in one pass.
    void gradient(std::span<T const> x, std::span<T> g) const {
        auto const slope = [this](double z, std::size_t j) { return Each::value_and_slope(z, label(j)).second; };
        sum_rows(x, g, slope, x);
    }

    /// Writes the gradient at x to g and returns f(x), in one pass.
    double value_and_gradient(std::span<T const> x, std::span<T> g) const {
        exact_sum sum;
        auto const slope = [&](double z, std::size_t j) {
            auto const [value, its_slope] = Each::value_and_slope(z, label(j));
            sum.add(value);
            return its_slope;
        };
        sum_rows(x, g, slope, x);
        return sum.total() / double(samples()) + penalty(x);
    }

    /// Writes the d x d Hessian at x, both triangles. Two passes' memory traffic, and the fewer of N d^2 / 2 and about
    /// ten times the sum over the rows of their non-zeros squared in operations.
    void hessian(std::span<T const> x, Eigen::MatrixXd& out) const {
        LACONIC_EXPECTS(x.size() == dimension());
        auto const bend = [&](std::size_t j) { return Each::bend(row(j).dot(x), label(j)) / double(samples()); };
        weighted_gram(data_->rows, bend, out);
        out.diagonal().array() += lambda_;
    }

    /// Writes (Hessian at x) v to out, in one pass.
    void hessian_times(std::span<T const> x, std::span<T const> v, std::span<T> out) const {
        LACONIC_EXPECTS(v.size() == dimension());
        auto const factor = [&](double z, std::size_t j) { return Each::bend(z, label(j)) * row(j).dot(v); };
        sum_rows(x, out, factor, v);
    }

    /// L = (largest bend of the loss) (largest eigenvalue of A'A / N) + lambda, to about 1e-14 of itself. Some tens of
    /// passes when it, or a copy, is first asked; remembered from then on.
    double smoothness() const {
        std::call_once(known_->largest_once, [this] {
            known_->largest = largest_eigenvalue(dimension(), [this](std::span<double const> v, std::span<double> out) {
                std::fill(out.begin(), out.end(), 0.0);
                for (std::size_t j = 0; j < samples(); ++j) row(j).add_to(out, row(j).dot(v) / double(samples()));
            });
        });
        return Each::largest_bend * known_->largest + lambda_;
    }

    /// mu = (smallest bend of the loss) (smallest eigenvalue of A'A / N) + lambda, off by about 1e-15 L. The smallest
    /// bend of the logistic loss is 0, and the eigenvalue is taken as 0 above 1024 features: mu = lambda then. Else an
    /// eigen-decomposition when it, or a copy, is first asked; remembered from then on.
    double strong_convexity() const {
        if (Each::smallest_bend == 0 || dimension() > 1024 || samples() < dimension()) return lambda_;
        std::call_once(known_->smallest_once, [this] {
            Eigen::MatrixXd gram;
            weighted_gram(
                data_->rows, [this](std::size_t) { return 1 / double(samples()); }, gram);
            known_->smallest = std::max(0.0, smallest_eigenvalue(gram));
        });
        return Each::smallest_bend * known_->smallest + lambda_;
    }

  private:
    struct constants {
        std::once_flag largest_once, smallest_once;
        double largest = 0, smallest = 0;
    };

    // What each addition rounds away is summed beside (Knuth's two-sum): f(x) - f* stays true down to the last digits.
    struct exact_sum {
        double sum = 0, lost = 0;

        void add(double v) {
            double const next = sum + v, back = next - sum;
            lost += (sum - (next - back)) + (v - back);
            sum = next;
        }
        double total() const { return std::isfinite(sum) ? sum + lost : sum; }
    };

    struct row_view {
        T const* value;
        coordinate const* column;
        std::int64_t count;

        // Four sums side by side, in double: their order is part of the result.
        template <class U>
        double dot(std::span<U> x) const {
            double s0 = 0, s1 = 0, s2 = 0, s3 = 0;
            std::int64_t p = 0;
            for (; p + 4 <= count; p += 4) {
                s0 += double(value[p]) * double(x[std::size_t(column[p])]);
                s1 += double(value[p + 1]) * double(x[std::size_t(column[p + 1])]);
                s2 += double(value[p + 2]) * double(x[std::size_t(column[p + 2])]);
                s3 += double(value[p + 3]) * double(x[std::size_t(column[p + 3])]);
            }
            for (; p < count; ++p) s0 += double(value[p]) * double(x[std::size_t(column[p])]);
            return (s0 + s1) + (s2 + s3);
        }
        template <class U>
        void add_to(std::span<U> g, double factor) const {
            auto const w = static_cast<U>(factor);
            for (std::int64_t p = 0; p < count; ++p) g[std::size_t(column[p])] += w * U(value[p]);
        }
    };

    row_view row(std::size_t j) const {
        auto const* const begin = data_->rows.outerIndexPtr() + j;
        return {data_->rows.valuePtr() + begin[0], columns_->data() + begin[0], begin[1] - begin[0]};
    }
    double label(std::size_t j) const { return double(data_->labels[j]); }

    double penalty(std::span<T const> x) const {
        double sum = 0;
        for (auto const xi : x) sum += double(xi) * double(xi);
        return lambda_ / 2 * sum;
    }

    // out = (1/N) sum_j factor(a_j . x, j) a_j + lambda v
    template <class Factor>
    void sum_rows(std::span<T const> x, std::span<T> out, Factor&& factor, std::span<T const> v) const {
        LACONIC_EXPECTS(x.size() == dimension() && out.size() == dimension());
        std::fill(out.begin(), out.end(), T(0));
        for (std::size_t j = 0; j < samples(); ++j) row(j).add_to(out, factor(row(j).dot(x), j));
        for (std::size_t i = 0; i < out.size(); ++i)
            out[i] = static_cast<T>(double(out[i]) / double(samples()) + lambda_ * double(v[i]));
    }

    std::shared_ptr<dataset<T> const> data_;
    // The columns again in half the bytes: passes over the data run at the memory's pace.
    std::shared_ptr<std::vector<coordinate> const> columns_;
    std::shared_ptr<constants> known_ = std::make_shared<constants>();
    double lambda_;
};

}  // namespace laconic
