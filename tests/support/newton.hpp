// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Eigen/Core>
#include <cmath>
#include <cstddef>
#include <span>

/// Objectives for the searches for a minimum by Newton's steps.
namespace newton {

/// Only what such a search asks for: the products, not the matrix.
template <class F>
struct products_only {
    F const& f;

    std::size_t dimension() const { return f.dimension(); }
    double value(std::span<double const> x) const { return f.value(x); }
    void gradient(std::span<double const> x, std::span<double> g) const { f.gradient(x, g); }
    void hessian_times(std::span<double const> x, std::span<double const> v, std::span<double> out) const {
        f.hessian_times(x, v, out);
    }
};
template <class F>
products_only(F const&) -> products_only<F>;

/// f(x) = scale exp(-x) - x: nothing is least, nor with weight |x| added where the weight is below 1.
struct no_minimum {
    double scale = 1;

    std::size_t dimension() const { return 1; }
    double value(std::span<double const> x) const { return scale * std::exp(-x[0]) - x[0]; }
    void gradient(std::span<double const> x, std::span<double> g) const { g[0] = -scale * std::exp(-x[0]) - 1; }
    void hessian(std::span<double const> x, Eigen::MatrixXd& h) const { h.setConstant(1, 1, scale * std::exp(-x[0])); }
};

}  // namespace newton
