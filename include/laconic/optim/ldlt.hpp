// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstddef>
#include <span>
#include <vector>

#include "laconic/core/contract.hpp"

namespace laconic {

/// The factorization L D L' of a symmetric matrix, which may be indefinite, row by row and without exchanges: each row
/// is first looked at and then kept, or left out. L has ones on its diagonal. Plain loops in a fixed order: ranks with
/// the same matrix get the same bits. n^3 / 6 multiplications for n rows; memory for n (n + 1) / 2 numbers, which
/// start() reserves.
class ldlt {
  public:
    /// What a row adds to D.
    struct pivot {
        double value = 0;      ///< the Schur complement a_jj - u' A^-1 u, u being the row's numbers before a_jj
        double magnitude = 0;  ///< |a_jj| + the magnitudes of what is subtracted: value is off by about 1e-16 of it
    };

    /// Begins with no rows; reserves memory for n.
    void start(std::size_t n) {
        below_.clear(), diagonal_.clear();
        below_.reserve(n * (n + 1) / 2), diagonal_.reserve(n);
        next_.reserve(n + 1);
    }
    /// The number of rows that have been kept.
    std::size_t size() const { return diagonal_.size(); }

    /// The pivot of the row whose numbers beside those of the kept rows, and then on the diagonal, are these: size() +
    /// 1 of them.
    pivot look(std::span<double const> row) {
        LACONIC_EXPECTS(row.size() == size() + 1);
        next_.assign(row.begin(), row.end());
        double const at = row.back();
        pivot p{at, std::abs(at)};
        for (std::size_t j = 0; j < size(); ++j) {  // next_[j] becomes l_j d_j, from which l_j follows
            double sum = next_[j];
            double const* const l = below_.data() + j * (j + 1) / 2;
            for (std::size_t k = 0; k < j; ++k) sum -= next_[k] * l[k];
            next_[j] = sum;
            double const part = sum / diagonal_[j] * sum;
            p.value -= part;
            p.magnitude += std::abs(part);
        }
        next_.back() = p.value;
        return p;
    }
    /// Keeps the row that was looked at last. Its pivot is not 0.
    void keep() {
        LACONIC_EXPECTS(next_.size() == size() + 1 && next_.back() != 0);
        for (std::size_t j = 0; j < size(); ++j) below_.push_back(next_[j] / diagonal_[j]);
        below_.push_back(1);
        diagonal_.push_back(next_.back());
    }
    /// b <- A^-1 b, for the matrix A of the kept rows.
    void solve(std::span<double> b) const {
        LACONIC_EXPECTS(b.size() == size());
        for (std::size_t i = 0; i < size(); ++i)
            for (std::size_t k = 0; k < i; ++k) b[i] -= below(i, k) * b[k];
        for (std::size_t i = 0; i < size(); ++i) b[i] /= diagonal_[i];
        for (std::size_t i = size(); i-- > 0;)
            for (std::size_t k = 0; k < i; ++k) b[k] -= below(i, k) * b[i];
    }
    std::span<double const> pivots() const { return diagonal_; }

  private:
    double below(std::size_t i, std::size_t k) const { return below_[i * (i + 1) / 2 + k]; }

    std::vector<double> below_, diagonal_, next_;  // L row after row, D, and the row that is looked at
};

}  // namespace laconic
