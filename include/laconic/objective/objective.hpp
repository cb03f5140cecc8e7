// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>

#include "laconic/core/view.hpp"

// As Eigen declares it, so that only those who use Hessians read Eigen.
namespace Eigen {
template <class, int, int, int, int, int>
class Matrix;
}

/// The function to minimise, as one rank has it. Your own objective is any type with the members below: there is
/// nothing to derive from and nothing to register. Its const members must be safe to call from several threads at once.
namespace laconic {

/// A differentiable function of d numbers. In words, x and g being spans of d elements:
///
///     f.dimension()      d, at least 1
///     f.value(x)         f(x), a floating-point number
///     f.gradient(x, g)   writes all d elements of the gradient at x to g; x and g never overlap
template <class F, class T = double>
concept Objective = Scalar<T> && requires(F const& f, std::span<T const> x, std::span<T> g) {
    { f.dimension() } -> std::convertible_to<std::size_t>;
    requires std::floating_point<decltype(f.value(x))>;
    f.gradient(x, g);
};

/// An objective with a cheaper way to both: f.value_and_gradient(x, g) writes g and returns f(x) in one pass over its
/// data.
template <class F, class T = double>
concept FusedObjective = Objective<F, T> && requires(F const& f, std::span<T const> x, std::span<T> g) {
    requires std::floating_point<decltype(f.value_and_gradient(x, g))>;
};

/// An objective with the constants that theorems use:
///
///     f.smoothness()         L: |grad f(x) - grad f(y)| <= L |x - y| for all x, y; above 0
///     f.strong_convexity()   mu: f - (mu/2) |x|^2 is convex; below 0 where f is not convex, 0 where f is and nothing
///                            better is known
template <class F, class T = double>
concept SmoothObjective = Objective<F, T> && requires(F const& f) {
    { f.smoothness() } -> std::convertible_to<double>;
    { f.strong_convexity() } -> std::convertible_to<double>;
};

namespace detail {

/// f.samples() is the number of its rows of data, and f.sample_smoothness() the largest smoothness of the functions of
/// one row: for methods that take some rows at a time.
template <class F>
concept HasSamples = requires(F const& f) {
    { f.samples() } -> std::convertible_to<std::size_t>;
};
template <class F>
concept HasSampleSmoothness = requires(F const& f) {
    { f.sample_smoothness() } -> std::convertible_to<double>;
};

// Prints what an F that is no objective for numbers of T lacks, where it is compiled: one line for each member.
template <class F, Scalar T>
consteval bool require_objective() {
    if constexpr (Objective<F, T>) {
        return true;
    } else if constexpr (std::same_as<T, float> && Objective<F, double>) {
        static_assert(!std::same_as<T, float>,
                      "x holds float, the objective takes double: let x hold double, or let value and gradient take "
                      "spans of float");
    } else if constexpr (std::same_as<T, double> && Objective<F, float>) {
        static_assert(!std::same_as<T, double>,
                      "x holds double, the objective takes float: let x hold float, or let value and gradient take "
                      "spans of double");
    } else {
        static_assert(
            requires(F const& f) {
                { f.dimension() } -> std::convertible_to<std::size_t>;
            },
            "an objective needs std::size_t dimension() const");
        static_assert(
            requires(F const& f, std::span<T const> x) { requires std::floating_point<decltype(f.value(x))>; },
            "an objective needs T value(std::span<T const> x) const, where T is what x holds");
        static_assert(
            requires(F const& f, std::span<T const> x, std::span<T> g) { f.gradient(x, g); },
            "an objective needs void gradient(std::span<T const> x, std::span<T> g) const, where T is what x "
            "holds");
    }
    return true;
}

// Whether F has its constants; one alone is a mistake.
template <class F>
consteval bool has_constants() {
    constexpr bool smooth = requires(F const& f) {
        { f.smoothness() } -> std::convertible_to<double>;
    };
    constexpr bool convex = requires(F const& f) {
        { f.strong_convexity() } -> std::convertible_to<double>;
    };
    static_assert(convex || !smooth,
                  "the objective has smoothness() and lacks double strong_convexity() const: 0 where it is convex and "
                  "nothing better is known");
    static_assert(smooth || !convex, "the objective has strong_convexity() and lacks double smoothness() const");
    return smooth && convex;
}

}  // namespace detail

/// Writes the gradient at x to g and returns f(x): in one pass over the data where f is a FusedObjective, in two where
/// it is not. x and g hold f.dimension() elements each.
template <class F, Contiguous X, Contiguous G>
requires Objective<F, detail::element_of<G>>
auto evaluate(F const& f, X const& x, G&& g) {
    using T = detail::element_of<G>;
    std::span<T const> const at = detail::view(x);
    std::span<T> const out = detail::view(g);
    LACONIC_EXPECTS(at.size() == f.dimension() && out.size() == f.dimension());
    if constexpr (FusedObjective<F, T>) {
        return f.value_and_gradient(at, out);
    } else {
        f.gradient(at, out);
        return f.value(at);
    }
}

/// A mean over samples, f = (1/m) sum_j f_j, from which stochastic methods draw. Every f_j includes the whole penalty.
/// In words, x and g being spans of f.dimension() elements that never overlap:
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

namespace detail {
using hessian_matrix = Eigen::Matrix<double, -1, -1, 0, -1, -1>;  // an Eigen::MatrixXd
}

/// An objective with f.hessian(x, H): writes the d x d Hessian at x to the Eigen::MatrixXd H, both triangles.
template <class F, class T = double>
concept HessianObjective = Objective<F, T> && requires(F const& f, std::span<T const> x, detail::hessian_matrix& h) {
    f.hessian(x, h);
};

/// An objective with f.hessian_times(x, v, out): writes (Hessian at x) v to out. The three are spans of d numbers, of
/// which none overlap.
template <class F, class T = double>
concept HessianProductObjective = Objective<F, T> && requires(F const& f, std::span<T const> x, std::span<T> out) {
    f.hessian_times(x, x, out);
};

/// The constants that theorems need of f = (1/workers) sum_i f_i, where each f_i is smooth, and in most of them convex;
/// f_i may be a mean of m functions f_ij. A zero is an unknown constant. All are the same on all ranks but
/// own_smoothness.
struct problem {
    std::size_t dimension = 0;
    int workers = 1;
    double smoothness = 0;                 ///< L: that of f
    double strong_convexity = 0;           ///< mu: that of f; below 0 where f is not convex
    double largest_smoothness = 0;         ///< max L_i
    double mean_square_smoothness = 0;     ///< sqrt(mean L_i^2)
    double least_strong_convexity = 0;     ///< min mu_i, which every f_i has; below 0 where one is not convex
    std::size_t samples = 0;               ///< m: the most samples that a worker has
    double largest_sample_smoothness = 0;  ///< max L_ij, over workers and samples
    double own_smoothness = 0;             ///< L_i: that of this rank's own f_i
    bool shared_optimum = false;           ///< whether each f_i is least where f is: yours to say
    int participants = 0;                  ///< the workers that send in a round, drawn anew; 0: all (see some_of)
    double answer_delta = 0;  ///< delta of answers whose errors the server keeps; 0: others (bidirectional)

    bool operator==(problem const&) const = default;
};

}  // namespace laconic
