// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Eigen/Core>
#include <cmath>
#include <concepts>

#include "laconic/core/contract.hpp"

namespace laconic {

/// What a hidden unit makes of its input: in place, for a matrix of them; the slope there, from the output; and how far
/// from 0 the first weights of a layer may be drawn.
template <class A>
concept Activation = requires(Eigen::MatrixXd& h, Eigen::MatrixXd const& there, double inputs, double outputs) {
    A::apply(h);
    A::multiply_by_slope(h, there);
    { A::first_weight(inputs, outputs) } -> std::same_as<double>;
    { A::smooth } -> std::convertible_to<bool>;
};

namespace activation {

/// max(u, 0), and what is not a number stays so. The slope is taken as 0 at 0.
struct relu {
    static constexpr bool smooth = false;

    template <class H>
    static void apply(Eigen::MatrixBase<H>& h) {
        h = (h.array() < typename H::Scalar(0)).select(typename H::Scalar(0), h);
    }
    template <class D, class H>
    static void multiply_by_slope(Eigen::MatrixBase<D>& d, Eigen::MatrixBase<H> const& h) {
        d = (h.array() > typename H::Scalar(0)).select(d, typename D::Scalar(0));
    }
    /// Uniform up to here has the variance 2 / inputs (He, Zhang, Ren, Sun 2015).
    static double first_weight(double inputs, double) { return std::sqrt(6 / inputs); }
};

/// The hyperbolic tangent. Its slope is 1 - tanh^2 <= 1, and it bends by at most 4 / (3 sqrt 3), where tanh^2 = 1/3.
struct tanh {
    static constexpr bool smooth = true;
    static constexpr double largest_slope = 1, largest_bend = 0.76980035891950105;

    template <class H>
    static void apply(Eigen::MatrixBase<H>& h) {
        h = h.array().tanh().matrix();
    }
    template <class D, class H>
    static void multiply_by_slope(Eigen::MatrixBase<D>& d, Eigen::MatrixBase<H> const& h) {
        d.array() *= 1 - h.array().square();
    }
    /// Uniform up to here has the variance 2 / (inputs + outputs) (Glorot, Bengio 2010).
    static double first_weight(double inputs, double outputs) { return std::sqrt(6 / (inputs + outputs)); }
};

}  // namespace activation

}  // namespace laconic
