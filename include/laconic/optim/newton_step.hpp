// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Eigen/Dense>
#include <array>
#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "laconic/optim/ldlt.hpp"

namespace laconic {

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
    template <class Matrix>
    bool factor(Matrix const& m, double add) {
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
