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
#include "laconic/core/contract.hpp"
#include "laconic/core/key.hpp"
#include "laconic/core/view.hpp"

namespace laconic::kernels {

/// Unbiased rounding to the grid least + {0, .., most} x step: codes_i is (x_i - least) / step plus a chance in [0, 1),
/// rounded down, and at most `most`. x_i is, up to rounding, on the grid's range, and not below it; step > 0 unless all
/// are equal; most <= 255. One pass over x, one over the codes.
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
        T const on_grid = std::min((v - least) / step, T(most)), below = std::floor(on_grid);
        return static_cast<std::uint8_t>(static_cast<int>(below) +
                                         int{detail::goes_up(double(on_grid - below), chance)});
    };
    if constexpr (sizeof(T) == 4 && instruction_set::has_avx2)
        if (detail::near_quotient<T> const q(step, most); q.is_exact) {
            auto const by_products = [least, most, q](T const* v, std::uint16_t const* windows, std::uint8_t* out) {
                return detail::round_to_grid<A>(instruction_set::chosen{}, v, least, most, q, windows, out);
            };
            return round_at_random(draws, x, first, codes, by_products, exactly);
        }
    auto const together = [least, step, most](T const* v, std::uint16_t const* windows, std::uint8_t* out) {
        std::array<std::int32_t, n> on_grid;  // in steps of 2^-16
        std::array<std::uint8_t, n> made;
        // A quotient of a difference: nothing here can be fused.
        for (std::size_t j = 0; j < n; ++j)
            on_grid[j] = static_cast<std::int32_t>(std::min((v[j] - least) / step, T(most)) * T(0x1p16));
        std::uint16_t open = 0;
        for (std::size_t j = 0; j < n; ++j) {
            std::int32_t const sum = on_grid[j] + windows[j];
            made[j] = static_cast<std::uint8_t>(sum >> 16);
            open |= static_cast<std::uint16_t>(sum) == 0xffff;
        }
        std::copy(made.begin(), made.end(), out);
        return detail::all_bits_if(open != 0);
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

}  // namespace laconic::kernels
