// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <span>

#include "laconic/backend/reference/reduce.hpp"

namespace laconic::kernels {

template <Scalar T>
double rounding_variance(reference&, std::span<T const> x, T step) {
    return detail::reference_sum(x, [step](double v) {
        double const on_grid = std::abs(v) / static_cast<double>(step), below = on_grid - std::floor(on_grid);
        double const r = std::min(below, 1 - below);  // the one that is exact
        return r * (1 - r);
    });
}

}  // namespace laconic::kernels
