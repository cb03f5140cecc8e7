// SPDX-License-Identifier: Apache-2.0
// No test: Eigen's decompositions and the problems' long types, compiled once.
#include "support/solvers.hpp"

#include <Eigen/Dense>

#include "laconic/objective/linear_party.hpp"
#include "laconic/objective/optimum.hpp"

template class laconic::shared_rows<double>;
template class laconic::linear_model<laconic::logistic_loss>;
template class laconic::linear_party<laconic::logistic_loss>;
template class laconic::detail::libsvm_reader<double>;

namespace solvers {

double eigenvalue(Eigen::MatrixXd const& m, Eigen::Index i) {
    return Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>(m, Eigen::EigenvaluesOnly).eigenvalues()[i];
}

singular::singular(Eigen::MatrixXd const& m) {
    Eigen::JacobiSVD<Eigen::MatrixXd> const svd(m, Eigen::ComputeFullU | Eigen::ComputeFullV);
    u = svd.matrixU();
    v = svd.matrixV();
    s = svd.singularValues();
}

Eigen::MatrixXd orthogonal(Eigen::MatrixXd const& m) { return Eigen::HouseholderQR<Eigen::MatrixXd>(m).householderQ(); }

Eigen::VectorXd solution(Eigen::MatrixXd const& a, Eigen::VectorXd const& b) { return a.ldlt().solve(b); }

double least_value(laconic::logistic_regression<> const& f) { return laconic::find_optimum(f).value; }

}  // namespace solvers
