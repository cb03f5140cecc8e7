// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Eigen/Dense>
#include <Eigen/SparseCore>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "laconic/core/dependent.hpp"
#include "laconic/core/view.hpp"

namespace laconic {

/// out = sum_j weight(j) a_j a_j', d x d and symmetric, over the rows a_j of a compressed matrix; weight(j) >= 0 is
/// called once for each j, in increasing order. One pass over the data: over pairs of each row's numbers where the rows
/// are sparse, else in dense blocks of 256 rows. Allocates out if it has another size, and a block.
template <Scalar T, class Weight>
void weighted_gram(Eigen::SparseMatrix<T, Eigen::RowMajor, std::int64_t> const& rows, Weight&& weight,
                   dependent<Eigen::MatrixXd, T>& out) {
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
        dependent<Eigen::MatrixXd, T> block(d, std::min(height, samples));
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

}  // namespace laconic
