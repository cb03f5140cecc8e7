// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstddef>
#include <span>

#include "laconic/objective/shared_rows.hpp"

namespace laconic {

/// One party of vertical learning, where each rank holds other features of the same N samples, and a block x of the
/// model: it minimises
///
///     f(x_0, .., x_K-1) = (1/N) sum_i loss(z_i, y_i) + sum_k penalty_k(x_k),      z_i = sum_k z_i^k(x_k),
///
/// where z_i are c numbers a sample and z^k is the party's embedding. A row_choice lists S samples; z and s hold S c
/// numbers, sample after sample, x and g dimension() numbers.
///
///     p.dimension(), p.samples(), p.outputs()   d_k, N and c; N and c are the same on all ranks
///     p.has_labels()                            whether this party knows the labels
///     p.embedding(rows, x, z)                   writes z_i^k(x) to z
///     p.block_gradient(rows, s, x, g)           writes the gradient of (1/S) sum_i s_i . z_i^k(x) + penalty_k(x) to g
///     p.penalty(x)                              penalty_k(x); 0 where a party that is not a LabelledParty lacks it
template <class P, class T = double>
concept Party = Scalar<T> && requires(P const& p, row_choice rows, std::span<T const> in, std::span<T> out) {
    { p.dimension() } -> std::convertible_to<std::size_t>;
    { p.samples() } -> std::convertible_to<std::size_t>;
    { p.outputs() } -> std::convertible_to<std::size_t>;
    { p.has_labels() } -> std::same_as<bool>;
    p.embedding(rows, in, out);
    p.block_gradient(rows, in, in, out);
};

/// A party that can use labels, where it has them:
///
///     p.slopes(rows, z, s)           writes the derivatives of loss(z_i, y_i) in z_i to s
///     p.loss(rows, z)                (1/S) sum_i loss(z_i, y_i)
///     p.penalty(x)                   penalty_k(x)
template <class P, class T = double>
concept LabelledParty = Party<P, T> && requires(P const& p, row_choice rows, std::span<T const> in, std::span<T> out) {
    p.slopes(rows, in, out);
    { p.loss(rows, in) } -> std::convertible_to<double>;
    { p.penalty(in) } -> std::convertible_to<double>;
};

/// A party whose loss has slopes that are affine in z: they are p.curvature() r_i with the residual r_i = z_i -
/// target_i, and the loss is that of squares, (curvature / 2) |r_i|^2, and a constant. So one party can put the labels
/// in, and the others need none:
///
///     p.curvature()                  above 0, and the same on all ranks; 0 where the slopes are not affine
///     p.subtract_targets(rows, z)    z_i <- z_i - target_i, on a party that has the labels
template <class P, class T = double>
concept AffineParty = Party<P, T> && requires(P const& p, row_choice rows, std::span<T> z) {
    { p.curvature() } -> std::convertible_to<double>;
    p.subtract_targets(rows, z);
};

}  // namespace laconic
