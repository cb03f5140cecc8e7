// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "laconic/backend/host/reduce.hpp"
#include "laconic/core/contract.hpp"

namespace laconic::kernels {

/// sum r_i (1 - r_i), where r_i is the fraction of |x_i| / step: the variance of what round_to_levels makes of x, in
/// squares of the step. step > 0, |x_i| / step <= 2^51. Added in the order of the other sums.
template <class A, Scalar T>
double rounding_variance(basic_host<A>&, std::span<T const> x, T step) {
    LACONIC_EXPECTS(step > 0);
    auto const add_variance = [step](auto& sum, auto v) {
        using pack = decltype(v);
        auto const whole = pack::all(0x1p52);  // what is added to it is rounded to whole numbers
        auto const on_grid = magnitude(v) / pack::all(static_cast<double>(step));
        // To the nearest: r (1 - r) is the same above and below the middle.
        auto const r = magnitude(on_grid - settled(settled(on_grid + whole) - whole));
        sum += settled(r * (pack::all(1.0) - r));
    };
    return detail::ordered_sum<A>(add_variance, x);
}

}  // namespace laconic::kernels
