// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>

#include "laconic/backend/host/reduce.hpp"
#include "laconic/core/contract.hpp"

namespace laconic {

/// sum r_i (1 - r_i), where r_i is the fraction of |x_i| / step: the variance of what round_to_levels makes of x, in
/// squares of the step. step > 0, |x_i| / step <= 2^51. Added in the order of the other sums.
template <class A, Scalar T>
double rounding_variance(basic_host<A>&, std::span<T const> x, T step) {
    LACONIC_EXPECTS(step > 0);
    using pack = simd::pack<double, A>;
    constexpr std::size_t packs = detail::partial_sums / pack::width;
    auto const unit = pack::all(static_cast<double>(step)), one = pack::all(1.0);
    auto const whole = pack::all(0x1p52);  // what is added to it is rounded to whole numbers
    std::array<pack, packs> sums;
    sums.fill(pack::all(0.0));
    std::array<double, detail::partial_sums> block{};
    for (std::size_t i = 0; i < x.size(); i += detail::partial_sums) {
        std::size_t const n = std::min(detail::partial_sums, x.size() - i);
        if (n < detail::partial_sums) block.fill(0);
        for (std::size_t j = 0; j < n; ++j) block[j] = static_cast<double>(x[i + j]);
        for (std::size_t p = 0; p < packs; ++p) {
            auto const on_grid = magnitude(pack::load(block.data() + p * pack::width)) / unit;
            // To the nearest: r (1 - r) is the same above and below the middle.
            auto const r = magnitude(on_grid - settled(settled(on_grid + whole) - whole));
            sums[p] = sums[p] + settled(r * (one - r));
        }
    }
    std::array<double, detail::partial_sums> s;
    for (std::size_t p = 0; p < packs; ++p) sums[p].store(s.data() + p * pack::width);
    return detail::add_in_halves<A>(s);
}

}  // namespace laconic
