// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <span>
#include <utility>

#include "laconic/backend/reference/memory.hpp"
#include "laconic/backend/settle.hpp"
#include "laconic/backend/sum_order.hpp"
#include "laconic/core/view.hpp"

namespace laconic::detail {

template <Scalar Sum = double, Scalar T, class F>
double reference_sum(std::span<T const> x, F summand) {
    return sum_in_order(0, x.size(), [&](std::size_t first, std::size_t n) {
        std::array<Sum, partial_sums> s{};
        for (std::size_t i = 0; i < n; ++i) {
            Sum v = summand(static_cast<Sum>(x[first + i]));
            simd::settle(v);  // the summand is rounded before it is added
            s[i % partial_sums] += v;
        }
        return static_cast<double>(add_in_halves<reference>(s));
    });
}

}  // namespace laconic::detail

namespace laconic::kernels {

template <Scalar T>
double sum_of_magnitudes(reference&, std::span<T const> x) {
    return detail::reference_sum(x, [](double v) { return std::abs(v); });
}
template <Scalar T>
double sum_of_squares(reference&, std::span<T const> x) {
    return detail::reference_sum(x, [](double v) { return v * v; });
}
inline double sum_of_squares_in_floats(reference&, std::span<float const> x) {
    return detail::reference_sum<float>(x, [](float v) { return v * v; });
}
template <Scalar T>
double sum_of_squares(reference&, std::span<T const> x, double scale, double centre = 0) {
    return detail::reference_sum(x, [=](double v) { return (v / scale - centre) * (v / scale - centre); });
}
template <Scalar T>
double sum_of_numbers(reference&, std::span<T const> x, double scale, double centre) {
    return detail::reference_sum(x, [=](double v) { return v / scale - centre; });
}
template <Scalar T>
T largest_magnitude(reference&, std::span<T const> x) {
    T largest = 0;
    for (T const v : x) {
        if (!std::isfinite(v)) return std::numeric_limits<T>::quiet_NaN();
        largest = std::max(largest, std::abs(v));
    }
    return largest;
}
template <Scalar T>
std::pair<T, T> least_and_largest(reference&, std::span<T const> x) {
    T const none = std::numeric_limits<T>::quiet_NaN();
    if (!std::all_of(x.begin(), x.end(), [](T v) { return std::isfinite(v); })) return {none, none};
    auto const [least, largest] = std::minmax_element(x.begin(), x.end());
    return {*least + T(0), *largest + T(0)};
}
template <Scalar T>
std::pair<double, double> sums_by_sign(reference&, std::span<T const> x) {
    return {detail::reference_sum(x, [](double v) { return v < 0 ? -v : 0; }),
            detail::reference_sum(x, [](double v) { return v < 0 ? 0 : v; })};
}
template <Scalar T>
std::size_t count_negative(reference&, std::span<T const> x) {
    return static_cast<std::size_t>(std::count_if(x.begin(), x.end(), [](T v) { return v < 0; }));
}
template <Scalar T>
std::size_t first_non_finite(reference&, std::span<T const> x) {
    return static_cast<std::size_t>(std::find_if(x.begin(), x.end(), [](T v) { return !std::isfinite(v); }) -
                                    x.begin());
}

template <Scalar T>
double rounding_variance(reference&, std::span<T const> x, T step) {
    return detail::reference_sum(x, [step](double v) {
        double const on_grid = std::abs(v) / static_cast<double>(step), below = on_grid - std::floor(on_grid);
        double const r = std::min(below, 1 - below);  // the one that is exact
        return r * (1 - r);
    });
}

}  // namespace laconic::kernels
