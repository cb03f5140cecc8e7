// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Eigen/Dense>
#include <Eigen/SparseCore>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>

#include "laconic/core/error.hpp"
#include "laconic/core/key.hpp"
#include "laconic/core/types.hpp"
#include "laconic/core/view.hpp"

namespace laconic {

/// out = sum_j weight(j) a_j a_j', d x d and symmetric, over the rows a_j of a compressed matrix; weight(j) >= 0 is
/// called once for each j, in increasing order. One pass over the data: over pairs of each row's numbers where the rows
/// are sparse, else in dense blocks of 256 rows. Allocates out if it has another size, and a block.
template <Scalar T, class Weight>
void weighted_gram(Eigen::SparseMatrix<T, Eigen::RowMajor, std::int64_t> const& rows, Weight&& weight,
                   detail::dependent<Eigen::MatrixXd, T>& out) {
    auto const d = rows.cols(), samples = rows.rows();
    auto const* const begin = rows.outerIndexPtr();
    auto const* const column = rows.innerIndexPtr();
    auto const* const value = rows.valuePtr();
    out.setZero(d, d);

    double pairs = 0;
    for (Eigen::Index j = 0; j < samples; ++j) pairs += std::pow(double(begin[j + 1] - begin[j]), 2);

    if (pairs * 10 < double(samples) * double(d) * double(d)) {  // a scattered sum costs as much as ten dense ones
        for (Eigen::Index j = 0; j < samples; ++j) {
            double const w = weight(static_cast<std::size_t>(j));
            for (auto p = begin[j]; p < begin[j + 1]; ++p) {
                double const scaled = w * double(value[p]);
                double* const target = out.col(column[p]).data();
                for (auto q = p; q < begin[j + 1]; ++q) target[column[q]] += scaled * double(value[q]);
            }
        }
    } else {
        constexpr Eigen::Index height = 256;
        detail::dependent<Eigen::MatrixXd, T> block(d, std::min(height, samples));
        for (Eigen::Index first = 0; first < samples; first += height) {
            auto const count = std::min(height, samples - first);
            block.setZero();
            for (Eigen::Index j = 0; j < count; ++j) {
                double const root = std::sqrt(weight(static_cast<std::size_t>(first + j)));
                for (auto p = begin[first + j]; p < begin[first + j + 1]; ++p)
                    block(column[p], j) = root * double(value[p]);
            }
            out.template selfadjointView<Eigen::Lower>().rankUpdate(block.leftCols(count));
        }
    }
    out.template triangularView<Eigen::StrictlyUpper>() = out.transpose();
}

/// The largest eigenvalue of a symmetric positive semidefinite d x d operator, d >= 1. `apply(v, out)` writes A v to
/// out; v and out are spans of d doubles. Within about 1e-14 of its size where apply is exact. Lanczos with full
/// reorthogonalisation, restarted with its best vectors (Wu, Simon 2000), from a fixed start: the same bits in every
/// run. Usually 10 to 60 applications; 65 vectors of memory. Throws error where 10000 applications are not enough or
/// the operator gives a number that is not finite.
template <class Apply>
double largest_eigenvalue(std::size_t d, Apply&& apply) {
    using matrix = detail::dependent<Eigen::MatrixXd, Apply>;
    using vector = detail::dependent<Eigen::VectorXd, Apply>;
    constexpr Eigen::Index longest = 64, kept = 16;
    auto const n = static_cast<Eigen::Index>(d);
    auto const columns = std::min(longest, n);
    matrix basis(n, columns + 1), projected = matrix::Zero(columns, columns);
    vector image(n), along;
    Eigen::SelfAdjointEigenSolver<matrix> solver;

    // A random start has a component along every eigenvector, so the largest is never missed.
    for (Eigen::Index i = 0; i < n; ++i) basis(i, 0) = key{0x6c616e63}.uniform(static_cast<std::uint64_t>(i)) - 0.5;
    basis.col(0).normalize();

    Eigen::Index j = 0;
    for (int applications = 0; applications < 10000; ++applications, ++j) {
        if (j == columns) {  // thick restart: the best Ritz vectors, then the residual, which all of them share
            matrix const best = basis.leftCols(columns).lazyProduct(solver.eigenvectors().rightCols(kept));
            basis.leftCols(kept) = best;
            basis.col(kept) = vector(basis.col(columns));
            projected.setZero();
            projected.topLeftCorner(kept, kept).diagonal() = solver.eigenvalues().tail(kept);
            j = kept;
        }
        apply(std::span<double const>(basis.col(j).data(), d), std::span<double>(image.data(), d));
        auto const known = basis.leftCols(j + 1);
        along = known.transpose() * image;
        image -= known * along;
        vector const again = known.transpose() * image;  // twice is enough (Kahan, Parlett)
        image -= known * again;
        projected.col(j).head(j + 1) = along + again;
        projected.row(j).head(j + 1) = (along + again).transpose();
        double rest = image.norm();
        if (rest < 1e-140) rest = image.stableNorm();  // squares underflow
        if (!std::isfinite(rest)) throw error("the largest eigenvalue: the operator gives numbers that are not finite");

        solver.compute(matrix(projected.topLeftCorner(j + 1, j + 1)));
        double const largest = solver.eigenvalues()[j];
        double const residual = rest * std::abs(solver.eigenvectors()(j, j));
        // The error is at most the residual, and at most its square over the gap to the next eigenvalue.
        double const gap = j > 0 ? largest - solver.eigenvalues()[j - 1] - residual : 0;
        double const bound =
            gap > 0 && residual < 1e-6 * largest ? std::min(residual, residual / gap * residual) : residual;
        if (bound <= 1e-15 * largest || residual <= 4e-15 * largest || j + 1 == n) return std::max(0.0, largest);
        basis.col(j + 1) = image / rest;
    }
    throw error("the largest eigenvalue: not found in 10000 applications of the operator");
}

/// The smallest eigenvalue of a symmetric matrix, of which the lower triangle is read. Its error is relative to the
/// largest eigenvalue: a tiny one may come out as 0 or slightly below. About d^3 operations.
template <class Matrix>  // a template, so that only its callers compile the solver
double smallest_eigenvalue(Matrix const& matrix) {
    return Eigen::SelfAdjointEigenSolver<Matrix>(matrix, Eigen::EigenvaluesOnly).eigenvalues()[0];
}

}  // namespace laconic
