// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>

#include "laconic/objective/objective.hpp"

/// Objectives that are means over samples, f = (1/m) sum_j f_j, from which stochastic methods draw. Every f_j includes
/// the whole penalty.
namespace laconic {

/// A mean of m functions. In words, x and g being spans of f.dimension() elements that never overlap:
///
///     f.samples()                    m, at least 1
///     f.batch_gradient(rows, x, g)   writes the mean of grad f_j(x) over the rows j that are listed to g; at least
///                                    one, each below m, repetitions count. Costs the rows' non-zeros and a pass over d
template <class F, class T = double>
concept FiniteSum = Objective<F, T> && detail::HasSamples<F> &&
    requires(F const& f, std::span<std::uint32_t const> rows, std::span<T const> x, std::span<T> g) {
    f.batch_gradient(rows, x, g);
};

/// A mean of functions with a known common constant:
///
///     f.sample_smoothness()   max_j L_j, where L_j is the smoothness of f_j: at least f.smoothness()
template <class F, class T = double>
concept SmoothFiniteSum = FiniteSum<F, T> && SmoothObjective<F, T> && detail::HasSampleSmoothness<F>;

/// A mean of functions that depend on x through a few numbers, the predictions of sample j: f_j(x) = loss_j(a_j . x_1,
/// ..., a_j . x_k) + penalty(x), where the blocks x_1 to x_k are disjoint parts of x. So k numbers, the slopes,
/// determine a gradient, and a table of gradients keeps them only:
///
///     f.outputs()                     k, at least 1: 1 for a linear model, the number of classes for softmax
///     f.slopes(j, x, s)               writes the derivatives of loss_j in its k predictions at x to s
///     f.add_row(j, s, w, g)           g += w sum_c s_c a_j, the c-th in block c: w grad f_j less the penalty's
///     f.add_penalty_gradient(x, g)    g += the gradient of the penalty alone
template <class F, class T = double>
concept GeneralisedLinear = FiniteSum<F, T> &&
    requires(F const& f, std::size_t j, double w, std::span<double> s, std::span<T const> x, std::span<T> g) {
    { f.outputs() } -> std::convertible_to<std::size_t>;
    f.slopes(j, x, s);
    f.add_row(j, std::span<double const>(s), w, g);
    f.add_penalty_gradient(x, g);
};

}  // namespace laconic
