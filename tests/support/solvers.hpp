// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "common/eigen_solvers.hpp"
#include "laconic/objective/libsvm.hpp"
#include "laconic/objective/regression.hpp"

/// What takes long to compile, compiled once: Eigen's decompositions, and logistic regression.
extern template class laconic::shared_rows<double>;
extern template class laconic::linear_model<laconic::logistic_loss>;
extern template class laconic::detail::libsvm_reader<double>;

namespace solvers {

/// The i-th eigenvalue of a symmetric matrix, ascending.
double eigenvalue(Eigen::MatrixXd const& m, Eigen::Index i);

/// m = u diag(s) v', with all columns of u and of v; s descends.
struct singular {
    Eigen::MatrixXd u, v;
    Eigen::VectorXd s;
    explicit singular(Eigen::MatrixXd const& m);
};

/// A square orthogonal matrix whose first columns span those of m.
Eigen::MatrixXd orthogonal(Eigen::MatrixXd const& m);

/// The solution of a x = b, for a symmetric a.
Eigen::VectorXd solution(Eigen::MatrixXd const& a, Eigen::VectorXd const& b);

/// The least value of logistic regression.
double least_value(laconic::logistic_regression<> const& f);

}  // namespace solvers
