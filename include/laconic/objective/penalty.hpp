// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <concepts>
#include <span>

#include "laconic/core/contract.hpp"

namespace laconic {

/// The cost of one coordinate of x, which a weight lambda multiplies: its value, its first two derivatives (slope and
/// bend), and the range of the second one.
template <class P>
concept Penalty = requires(double x) {
    { P::value(x) } -> std::same_as<double>;
    { P::slope(x) } -> std::same_as<double>;
    { P::bend(x) } -> std::same_as<double>;
    { P::largest_bend } -> std::convertible_to<double>;
    { P::smallest_bend } -> std::convertible_to<double>;
};

/// x^2 / 2: convex, with the second derivative 1 everywhere.
struct squared_penalty {
    static constexpr double largest_bend = 1, smallest_bend = 1;

    static double value(double x) { return x * x / 2; }
    static double slope(double x) { return x; }
    static double bend(double) { return 1; }
};

/// x^2 / (1 + x^2), below 1 however large x is: the nonconvex penalty of EF21's experiments (Richtarik, Sokolov,
/// Fatkhullin 2021). Its second derivative is 2 at x = 0 and -1/2, the least, at |x| = 1.
struct bounded_penalty {
    static constexpr double largest_bend = 2, smallest_bend = -0.5;

    // w = 1 / (1 + x^2) is in (0, 1], and 0 where x^2 overflows: nothing else overflows here.
    static double value(double x) { return std::abs(x) <= 1 ? x * x / (1 + x * x) : 1 - 1 / (1 + x * x); }
    static double slope(double x) {
        double const w = 1 / (1 + x * x);
        return 2 * (x * w) * w;
    }
    static double bend(double x) {
        double const w = 1 / (1 + x * x);
        return w * w * (8 * w - 6);
    }
};

namespace detail {

// lambda sum_i penalty(x_i)
template <Penalty Cost, class T>
double penalty_of(double lambda, std::span<T const> x) {
    double sum = 0;
    for (auto const xi : x) sum += Cost::value(double(xi));
    return lambda * sum;
}

}  // namespace detail

}  // namespace laconic
