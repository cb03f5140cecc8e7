// SPDX-License-Identifier: Apache-2.0
#include "eigen_solvers.hpp"

template class Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>;
template Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>& Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>::compute(
    Eigen::EigenBase<Eigen::MatrixXd> const&, int);
template class Eigen::LLT<Eigen::MatrixXd>;
template Eigen::LLT<Eigen::MatrixXd>& Eigen::LLT<Eigen::MatrixXd>::compute(Eigen::EigenBase<Eigen::MatrixXd> const&);
