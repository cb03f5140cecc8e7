// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <cstddef>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "laconic/objective/exact_sum.hpp"
#include "laconic/objective/l1_newton.hpp"
#include "laconic/objective/output_loss.hpp"

namespace laconic {

/// The loss of a mixture of n members, whose outputs for m rows are known, in one weight for each: f(w) = (1/m) sum_i
/// loss_i(sum_j w_j h_j(x_i)). Convex, an objective with a Hessian. With the penalties of the members it is AdaNet's
/// F(w) = f(w) + sum_j Gamma_j |w_j| (Cortes, Gonzalvo, Kuznetsov, Mohri, Yang, ICML 2017, equation 4). It refers to
/// the outputs. A gradient takes a pass over them, a Hessian one of n^2 operations a number.
template <OutputLoss Loss, Scalar T>
class mixture {
  public:
    explicit mixture(Loss loss) : loss_(std::move(loss)) {}

    /// Adds a member: its outputs row after row, and its Gamma, at least 0.
    void add(std::span<T const> outputs, double gamma) {
        LACONIC_EXPECTS(outputs.size() == loss_.rows() * loss_.outputs() && gamma >= 0);
        outputs_.push_back(outputs);
        penalties_.push_back(gamma);
    }

    /// n.
    std::size_t dimension() const { return outputs_.size(); }
    std::span<double const> penalties() const { return penalties_; }

    double value(std::span<double const> w) const {
        exact_sum sum;
        each_row(w, [&](std::size_t, double loss, std::span<double const>) { sum.add(loss); });
        return sum.total() / double(loss_.rows());
    }
    void gradient(std::span<double const> w, std::span<double> g) const {
        std::fill(g.begin(), g.end(), 0.0);
        each_row(w, [&](std::size_t i, double, std::span<double const> slopes) {
            for (std::size_t j = 0; j < dimension(); ++j)
                for (std::size_t c = 0; c < slopes.size(); ++c)
                    g[j] += slopes[c] * output(j, i, c) / double(loss_.rows());
        });
    }
    void hessian(std::span<double const> w, Eigen::MatrixXd& h) const {
        std::size_t const n = dimension(), k = loss_.outputs();
        h.setZero(static_cast<Eigen::Index>(n), static_cast<Eigen::Index>(n));
        std::vector<double> row(n * k), bent;
        auto const of = [&](std::size_t j) { return std::span<double const>(row).subspan(j * k, k); };
        each_row(w, [&](std::size_t i, double, std::span<double const> slopes) {
            for (std::size_t j = 0; j < n; ++j)
                for (std::size_t c = 0; c < k; ++c) row[j * k + c] = output(j, i, c);
            for (std::size_t a = 0; a < n; ++a) {
                bent.assign(of(a).begin(), of(a).end());
                loss_.multiply_by_bend(slopes, i, std::span(bent));
                for (std::size_t b = 0; b <= a; ++b)
                    h(Eigen::Index(a), Eigen::Index(b)) +=
                        std::inner_product(bent.begin(), bent.end(), of(b).begin(), 0.0) / double(loss_.rows());
            }
        });
        h.template triangularView<Eigen::StrictlyUpper>() = h.transpose();
    }

    /// F(w).
    double penalised(std::span<double const> w) const { return value(w) + detail::l1_penalty(penalties_, w); }
    /// Moves w to a minimum of F and returns F there: l1_newton.
    double fit(std::span<double> w) const { return l1_newton(*this, penalties_, w); }

  private:
    double output(std::size_t j, std::size_t i, std::size_t c) const {
        return double(outputs_[j][i * loss_.outputs() + c]);
    }
    // use(i, the loss of row i, its slopes)
    void each_row(std::span<double const> w, auto use) const {
        LACONIC_EXPECTS(w.size() == dimension());
        std::vector<double> z(loss_.outputs());
        for (std::size_t i = 0; i < loss_.rows(); ++i) {
            for (std::size_t c = 0; c < z.size(); ++c) {
                z[c] = 0;
                for (std::size_t j = 0; j < dimension(); ++j) z[c] += w[j] * output(j, i, c);
            }
            double const loss = loss_.loss(std::span<double>(z), i);
            use(i, loss, z);
        }
    }

    Loss loss_;
    std::vector<std::span<T const>> outputs_;
    std::vector<double> penalties_;
};

}  // namespace laconic
