// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Eigen/Core>
#include <cmath>
#include <concepts>

#include "laconic/core/contract.hpp"

namespace laconic {

/// The activation of a hidden unit: apply() works in place, on a matrix of inputs; multiply_by_slope() takes the
/// derivative from the outputs, and multiply_by_bend() the second one; first_weight() is the bound of the uniform
/// distribution of a layer's first weights.
template <class A>
concept Activation = requires(Eigen::MatrixXd& h, Eigen::MatrixXd const& there, double inputs, double outputs) {
    A::apply(h);
    A::multiply_by_slope(h, there);
    A::multiply_by_bend(h, there);
    { A::first_weight(inputs, outputs) } -> std::same_as<double>;
};

namespace activation {

/// max(u, 0); NaN stays NaN. The slope at 0 is taken as 0.
struct relu {
    template <class H>
    static void apply(H& h) {
        h = (h.array() < typename H::Scalar(0)).select(typename H::Scalar(0), h);
    }
    template <class D>
    static void multiply_by_slope(D& d, auto const& h) {
        d = (h.array() > 0).select(d, typename D::Scalar(0));
    }
    static void multiply_by_bend(auto& d, auto const&) { d.setZero(); }
    /// A uniform distribution up to this bound has the variance 2 / inputs (He, Zhang, Ren, Sun 2015).
    static double first_weight(double inputs, double) { return std::sqrt(6 / inputs); }
};

/// The hyperbolic tangent. Its slope is 1 - tanh^2.
struct tanh {
    static void apply(auto& h) { h = h.array().tanh().matrix(); }
    static void multiply_by_slope(auto& d, auto const& h) { d.array() *= 1 - h.array().square(); }
    static void multiply_by_bend(auto& d, auto const& h) { d.array() *= -2 * h.array() * (1 - h.array().square()); }
    /// A uniform distribution up to this bound has the variance 2 / (inputs + outputs) (Glorot, Bengio 2010).
    static double first_weight(double inputs, double outputs) { return std::sqrt(6 / (inputs + outputs)); }
};

}  // namespace activation

}  // namespace laconic
