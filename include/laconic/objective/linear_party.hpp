// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <utility>

#include "laconic/objective/linear_model.hpp"

namespace laconic {

/// The party of a linear model: z_i^k = a_i^k . x, one number a sample, where a_i^k are the party's columns of row i,
/// and lambda sum_j penalty(x_j). Copies are cheap and share the data.
template <Loss Each, Scalar T = double, Penalty Cost = squared_penalty>
class linear_party {
  public:
    /// Its columns (objective/dataset.hpp), with all labels or none. Throws argument_error where lambda is negative or
    /// not finite, where there are no rows or no columns, or where the loss does not take a label; shape_error where
    /// there are some labels, and not one for each row.
    linear_party(dataset<T> columns, double lambda)
        : has_labels_(!columns.labels.empty()),
          rows_(with_labels(std::move(columns))),
          lambda_(detail::checked_lambda(lambda)) {
        if (has_labels_) detail::check_labels<Each>(rows_);
    }

    std::size_t dimension() const { return rows_.features(); }
    std::size_t samples() const { return rows_.size(); }
    std::size_t outputs() const { return 1; }
    bool has_labels() const { return has_labels_; }

    void embedding(row_choice rows, std::span<T const> x, std::span<T> z) const {
        LACONIC_EXPECTS(x.size() == dimension() && z.size() == rows.size());
        for (std::size_t i = 0; i < z.size(); ++i) z[i] = static_cast<T>(rows_[rows[i]].dot(x));
    }
    void block_gradient(row_choice rows, std::span<T const> s, std::span<T const> x, std::span<T> g) const {
        LACONIC_EXPECTS(s.size() == rows.size() && x.size() == dimension() && g.size() == dimension());
        for (T& v : g) v = 0;
        for (std::size_t i = 0; i < s.size(); ++i) rows_[rows[i]].add_to(g, double(s[i]));
        for (std::size_t j = 0; j < g.size(); ++j)
            g[j] = static_cast<T>(double(g[j]) / double(rows.size()) + lambda_ * Cost::slope(double(x[j])));
    }
    void slopes(row_choice rows, std::span<T const> z, std::span<T> s) const {
        LACONIC_EXPECTS(has_labels_ && z.size() == rows.size() && s.size() == rows.size());
        for (std::size_t i = 0; i < z.size(); ++i)
            s[i] = static_cast<T>(Each::value_and_slope(double(z[i]), rows_.label(rows[i])).second);
    }
    double loss(row_choice rows, std::span<T const> z) const {
        LACONIC_EXPECTS(has_labels_ && z.size() == rows.size());
        exact_sum sum;
        for (std::size_t i = 0; i < z.size(); ++i)
            sum.add(Each::value_and_slope(double(z[i]), rows_.label(rows[i])).first);
        return sum.total() / double(rows.size());
    }
    double penalty(std::span<T const> x) const { return detail::penalty_of<Cost>(lambda_, x); }
    double curvature() const { return Each::smallest_bend == Each::largest_bend ? Each::largest_bend : 0; }
    void subtract_targets(row_choice rows, std::span<T> z) const {
        LACONIC_EXPECTS(has_labels_ && curvature() > 0 && z.size() == rows.size());
        for (std::size_t i = 0; i < z.size(); ++i)
            z[i] += static_cast<T>(Each::value_and_slope(0, rows_.label(rows[i])).second / curvature());
    }

    /// L_k, that of f in this party's block: see linear_model.
    double smoothness() const { return Each::largest_bend * rows_.largest_eigenvalue() + lambda_ * Cost::largest_bend; }
    /// What the penalty alone gives.
    double strong_convexity() const { return lambda_ * Cost::smallest_bend; }

  private:
    static dataset<T> with_labels(dataset<T> columns) {
        if (columns.labels.empty()) columns.labels.resize(columns.samples());
        return columns;
    }

    bool has_labels_;
    shared_rows<T> rows_;
    double lambda_;
};

}  // namespace laconic
