// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Eigen/Dense>
#include <array>
#include <cstddef>
#include <numbers>
#include <span>
#include <string_view>
#include <vector>

#include "laconic/core/view.hpp"
#include "laconic/optim/ldlt.hpp"

/// Symmetric matrices as vectors whose norm is the matrix's Frobenius norm. A matrix is anything with m(i, j), i and j
/// from 0.
namespace laconic {

/// How a symmetric matrix of d x d becomes a vector.
enum class symmetric_as {
    triangle,  ///< d (d + 1) / 2 numbers: the lower triangle row after row, those beside the diagonal times sqrt 2
    whole      ///< d^2 numbers, row after row
};

constexpr std::array<std::string_view, 2> words_of(symmetric_as) { return {"triangle", "whole"}; }

/// The number of numbers.
constexpr std::size_t symmetric_size(symmetric_as how, std::size_t d) {
    return how == symmetric_as::whole ? d * d : d * (d + 1) / 2;
}
/// out <- m, of d x d. Reads the lower triangle.
template <class Matrix, Scalar T>
void pack_symmetric(symmetric_as how, std::size_t d, Matrix const& m, std::span<T> out) {
    LACONIC_EXPECTS(out.size() == symmetric_size(how, d));
    auto const at = [&](std::size_t i, std::size_t j) {
        return static_cast<double>(m(static_cast<std::ptrdiff_t>(i), static_cast<std::ptrdiff_t>(j)));
    };
    for (std::size_t i = 0, k = 0; i < d; ++i)
        if (how == symmetric_as::whole)
            for (std::size_t j = 0; j < d; ++j) out[k++] = static_cast<T>(j <= i ? at(i, j) : at(j, i));
        else
            for (std::size_t j = 0; j <= i; ++j)
                out[k++] = static_cast<T>(j == i ? at(i, i) : std::numbers::sqrt2 * at(i, j));
}
/// m <- the symmetric matrix of d x d nearest to v, both triangles; m is of that size.
template <Scalar T, class Matrix>
void unpack_symmetric(symmetric_as how, std::size_t d, std::span<T const> v, Matrix& m) {
    LACONIC_EXPECTS(v.size() == symmetric_size(how, d));
    for (std::size_t i = 0, k = 0; i < d; ++i)
        for (std::size_t j = 0; j <= i; ++j, ++k) {
            double const value = how == symmetric_as::whole ? (double(v[i * d + j]) + double(v[j * d + i])) / 2
                                 : i == j                   ? double(v[k])
                                                            : double(v[k]) / std::numbers::sqrt2;
            m(static_cast<std::ptrdiff_t>(i), static_cast<std::ptrdiff_t>(j)) = value;
            m(static_cast<std::ptrdiff_t>(j), static_cast<std::ptrdiff_t>(i)) = value;
        }
}

/// How a symmetric matrix is made positive definite: its eigenvalues below a number are raised to that, or a number is
/// added to all of them.
enum class definite_by { projection, lift };
constexpr std::array<std::string_view, 2> words_of(definite_by) { return {"projection", "lift"}; }

/// Solves equations with a symmetric matrix that is made positive definite. With a lift, and where no eigenvalue lies
/// below the number, by LDL' in a fixed order, d^3 / 6 multiplications; else by eigenvalues. Ranks that run the same
/// program get the same bits. Reuses its memory, except for eigenvalues.
class newton_step {
  public:
    /// step <- (m made definite by a number)^-1 step, m being a dense Eigen matrix of doubles. False where the lifted
    /// matrix is not positive definite: step is as it was then.
    template <class Matrix>
    bool operator()(Matrix const& m, definite_by how, double number, std::span<double> step) {
        LACONIC_EXPECTS(m.rows() == m.cols() && std::size_t(m.rows()) == step.size());
        if (how == definite_by::lift ? !factor(m, number) : !(factor(m, -number) && factor(m, 0))) {
            if (how == definite_by::lift) return false;
            Eigen::SelfAdjointEigenSolver<Matrix> const solver(m);
            Eigen::Map<Eigen::Matrix<double, Eigen::Dynamic, 1>> x(step.data(), m.rows());
            x = (solver.eigenvectors().transpose() * x)
                    .eval()
                    .cwiseQuotient(solver.eigenvalues().cwiseMax(number))
                    .eval();
            x = (solver.eigenvectors() * x).eval();
            return true;
        }
        factors_.solve(step);
        return true;
    }

  private:
    // Whether m + add I is positive definite; factors_ is its factorization then.
    bool factor(auto const& m, double add) {
        factors_.start(std::size_t(m.rows()));
        for (std::ptrdiff_t i = 0; i < m.rows(); ++i) {
            row_.assign(m.data() + i * m.rows(), m.data() + i * m.rows() + i + 1);
            row_.back() += add;
            if (!(factors_.look(row_).value > 0)) return false;
            factors_.keep();
        }
        return true;
    }

    ldlt factors_;
    std::vector<double> row_;
};

}  // namespace laconic
