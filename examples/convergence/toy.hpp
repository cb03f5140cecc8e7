// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "laconic/objective/objective.hpp"

namespace convergence {

using vec = std::vector<double>;

/// What is asked of a loop besides its iterates.
struct nothing_more {
    void operator()(auto const&, vec&) const {}
};

double squared(std::span<double const> x);
double squared_distance(std::span<double const> x, std::span<double const> y);

/// sum_c h_c (x_c - a_c)^2 / 2.
struct bowl {
    vec curvature, centre;
};

/// What one worker minimises: the mean of some bowls, its rows. An objective for the library, of one row or several.
class worker {
  public:
    explicit worker(std::vector<bowl> rows);

    std::size_t dimension() const { return curvature_.size(); }
    double value(std::span<double const> x) const;
    void gradient(std::span<double const> x, std::span<double> g) const;
    std::size_t samples() const { return rows_.size(); }
    void batch_gradient(std::span<std::uint32_t const> rows, std::span<double const> x, std::span<double> g) const;
    static constexpr bool constant_hessian = true;
    template <class Matrix>
    void hessian(std::span<double const>, Matrix& h) const {
        auto const d = static_cast<std::ptrdiff_t>(dimension());
        h.setZero(d, d);
        for (std::ptrdiff_t c = 0; c < d; ++c) h(c, c) = curvature_[static_cast<std::size_t>(c)];
    }
    void hessian_times(std::span<double const> x, std::span<double const> v, std::span<double> out) const;

    std::vector<bowl> const& rows() const { return rows_; }
    vec const& curvature() const { return curvature_; }  ///< of the mean
    vec const& pull() const { return pull_; }            ///< the mean of h_c a_c: the gradient is curvature x - pull

  private:
    std::vector<bowl> rows_;
    vec curvature_, pull_;
};

/// A problem whose constants and whose optimum are known in closed form: x*_c = sum h_c a_c / sum h_c, over all rows of
/// all workers.
class toy {
  public:
    toy(std::vector<worker> all, vec start);

    std::vector<worker> workers;
    vec start, optimum;
    vec curvature;               ///< of f, the mean over the workers
    std::vector<vec> gradients;  ///< grad f_i(x*)
    laconic::problem constants;  ///< L, mu, L_i, L_ij and the rest, exact
    double heterogeneity = 0;    ///< zeta^2 = mean_i |grad f_i(x*)|^2

    double size() const { return static_cast<double>(workers.size()); }
    double gap(std::span<double const> x) const;  ///< f(x) - f*, with no cancellation
    double distance(std::span<double const> x) const { return squared_distance(x, optimum); }
    /// mean_i |h_i - grad f_i(x*)|^2.
    double memory_error(std::vector<vec> const& known) const;
    /// The constants as worker i is to give them.
    laconic::problem constants_of(std::size_t i) const;
};

/// f_i(x) = |x - a_i|^2 / 2 with a_i = spread (1, .., 1) and its negative in turns, so that x* = 0 for an even n.
toy spheres(int n, std::size_t d, double spread, double start);
/// The same of m rows a worker, of curvature 1 / m, 2 / m, .., 1 around the worker's centre.
toy layered(int n, std::size_t d, std::size_t m, double spread, double start);
/// Worker i has curvatures between mu and L = 1 that go through the coordinates in another order than the others', and
/// centres that differ by `spread`; started at 0. All m rows of a worker share its centre and are 1, .., m / m as
/// curved (as `rows` says).
toy valleys(int n, std::size_t d, double mu, double spread, std::size_t rows = 1);

}  // namespace convergence
