// SPDX-License-Identifier: Apache-2.0
// Eigen's decompositions, which take longest to compile of what the objectives instantiate: examples and tests are compiled
// behind this header, and eigen_solvers.cpp compiles them once.
#pragma once

#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>

extern template class Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>;
extern template Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>& Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>::compute(
    Eigen::EigenBase<Eigen::MatrixXd> const&, int);
extern template class Eigen::LLT<Eigen::MatrixXd>;
extern template Eigen::LLT<Eigen::MatrixXd>& Eigen::LLT<Eigen::MatrixXd>::compute(
    Eigen::EigenBase<Eigen::MatrixXd> const&);
