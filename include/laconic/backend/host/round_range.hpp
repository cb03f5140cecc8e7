// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>

#include "laconic/backend/host/memory.hpp"
#include "laconic/backend/host/round_at_random.hpp"
#include "laconic/backend/host/round_by_registers.hpp"
#include "laconic/core/contract.hpp"
#include "laconic/core/key.hpp"
#include "laconic/core/view.hpp"

namespace laconic {

/// Unbiased rounding to the grid least + {0, .., most} x step: codes_i is (x_i - least) / step rounded down, or up with
/// probability equal to the fraction cut off (off by at most 2^-32), and at most `most`. x_i is, up to rounding, on
/// the grid's range, and not below it; step > 0 unless all are equal; most <= 255. One pass over x, one over the codes.
template <class A, Scalar T>
void round_to_range(random_windows<A>& draws, std::span<T const> x, T least, T step, int most, std::uint64_t first,
                    std::span<std::uint8_t> codes) {
    LACONIC_EXPECTS(codes.size() == x.size() && step >= 0 && most >= 1 && most <= 255);
    if (!(step > 0)) {
        std::fill(codes.begin(), codes.end(), std::uint8_t{0});
        return;
    }
    constexpr auto n = rounded_together;
    auto const exactly = [least, step, most](T v, std::uint32_t chance) {
        T const on_grid = (v - least) / step, below = std::floor(on_grid);
        bool const up = double(chance) < double(on_grid - below) * 0x1p32;
        return static_cast<std::uint8_t>(below < T(most) ? static_cast<int>(below) + int{up} : most);
    };
#if defined(__AVX512BW__) && !defined(LACONIC_SCALAR)
    if constexpr (sizeof(T) == 4)
        if (detail::near_quotient<T> const q(step, most); q.near) {
            auto const by_products = [least, most, q](T const* v, std::uint16_t const* windows, std::uint8_t* out) {
                return detail::round_to_grid_avx512<A>(v, least, most, q, windows, out);
            };
            return round_at_random(draws, x, first, codes, by_products, exactly);
        }
#endif
    auto const together = [least, step, most](T const* v, std::uint16_t const* windows, std::uint8_t* out) {
        std::array<std::int32_t, n> on_grid;  // in steps of 2^-16: what is cut off stands in the lower half
        std::array<std::uint8_t, n> made;
        // A quotient of a difference: nothing here can be fused.
        for (std::size_t j = 0; j < n; ++j) on_grid[j] = static_cast<std::int32_t>((v[j] - least) / step * T(0x1p16));
        std::uint16_t equal = 0;
        for (std::size_t j = 0; j < n; ++j) {
            auto const cut = static_cast<std::uint16_t>(on_grid[j]);
            auto const below = static_cast<std::int16_t>(on_grid[j] >> 16);
            auto const code = std::min<std::int16_t>(static_cast<std::int16_t>(below + (windows[j] < cut)),
                                                     static_cast<std::int16_t>(most));
            made[j] = static_cast<std::uint8_t>(code);
            equal |= windows[j] == cut;
        }
        std::copy(made.begin(), made.end(), out);
        return detail::all_bits_if(equal != 0);
    };
    round_at_random(draws, x, first, codes, together, exactly);
}

/// The same, by the chances of a key.
template <class A, Scalar T>
void round_to_range(basic_host<A>&, std::span<T const> x, T least, T step, int most, key from, std::uint64_t first,
                    std::span<std::uint8_t> codes) {
    random_windows<A> draws(from, first, first + x.size());
    round_to_range(draws, x, least, step, most, first, codes);
}

/// The same grid, but to its nearest number, the upper of two that are equally near.
template <class A, Scalar T>
void round_to_nearest_in_range(basic_host<A>&, std::span<T const> x, T least, T step, int most,
                               std::span<std::uint8_t> codes) {
    LACONIC_EXPECTS(codes.size() == x.size() && step >= 0 && most >= 1 && most <= 255);
    if (!(step > 0)) {
        std::fill(codes.begin(), codes.end(), std::uint8_t{0});
        return;
    }
    constexpr auto n = rounded_together;
    // In half steps, rounded down: the odd ones go up.
    auto const nearest = [least, step, most](T const* v, std::uint8_t* out, std::size_t count) {
        std::array<std::uint8_t, n> made;
        for (std::size_t j = 0; j < count; ++j) {
            auto const halves = static_cast<std::int32_t>((v[j] - least) / step * 2);
            made[j] = static_cast<std::uint8_t>(std::min((halves + 1) >> 1, most));
        }
        std::copy_n(made.begin(), count, out);
    };
    std::size_t i = 0;
    for (; i + n <= x.size(); i += n) nearest(x.data() + i, codes.data() + i, n);
    nearest(x.data() + i, codes.data() + i, x.size() - i);
}

}  // namespace laconic
