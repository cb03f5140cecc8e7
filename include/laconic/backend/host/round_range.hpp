// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>

#include "laconic/backend/host/memory.hpp"
#include "laconic/core/contract.hpp"
#include "laconic/core/key.hpp"
#include "laconic/core/view.hpp"

namespace laconic {

namespace detail {

// up(i, fraction) says whether x_i goes up by the fraction of a step that it is above the grid.
template <class A, Scalar T, class Up>
void codes_in_range(std::span<T const> x, T least, T step, int most, std::span<std::uint8_t> codes, Up up) {
    LACONIC_EXPECTS(codes.size() == x.size() && step >= 0 && most >= 1 && most <= 255);
    for (std::size_t i = 0; i < x.size(); ++i) {
        // A quotient of a difference: nothing here can be fused.
        T const on_grid = x[i] > least ? (x[i] - least) / step : T(0), below = std::floor(on_grid);
        int const code = below < T(most) ? static_cast<int>(below) + int{up(i, on_grid - below)} : most;
        codes[i] = static_cast<std::uint8_t>(code);
    }
}

}  // namespace detail

/// Unbiased rounding to the grid least + {0, .., most} x step: codes_i is (x_i - least) / step rounded down, or up with
/// probability equal to the fraction cut off (off by at most 2^-32), and at most `most`. x_i >= least, step > 0 unless
/// all are equal, most <= 255.
template <class A, Scalar T>
void round_to_range(basic_host<A>&, std::span<T const> x, T least, T step, int most, key from, std::uint64_t first,
                    std::span<std::uint8_t> codes) {
    detail::codes_in_range<A>(x, least, step, most, codes, [&](std::size_t i, T fraction) {
        return double(from.word(first + i)) < double(fraction) * 0x1p32;
    });
}

/// The same, but to the nearest number of the grid, the upper of two that are equally near.
template <class A, Scalar T>
void round_to_nearest_in_range(basic_host<A>&, std::span<T const> x, T least, T step, int most,
                               std::span<std::uint8_t> codes) {
    detail::codes_in_range<A>(x, least, step, most, codes, [](std::size_t, T fraction) { return fraction >= T(0.5); });
}

}  // namespace laconic
