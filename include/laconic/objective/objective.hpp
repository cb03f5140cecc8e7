// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstddef>
#include <span>

#include "laconic/core/contract.hpp"
#include "laconic/core/view.hpp"

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

}  // namespace laconic
