// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <string>

#include "laconic/core/error.hpp"
#include "laconic/core/text.hpp"

namespace laconic {

/// A number of coordinates out of d: a count, or, below 1, a fraction of d. top_k{100} keeps 100, top_k{0.01} one in a
/// hundred.
struct portion {
    double value = 1;

    constexpr portion() = default;
    template <class N>
    requires(std::integral<N> || std::floating_point<N>) constexpr portion(N n)
        : value(static_cast<double>(n)) {}  // NOLINT: implicit, so that top_k{3} reads as it should

    /// The count for a vector of d numbers: a fraction is rounded to the nearest count, but never to 0 (unless d is 0);
    /// a count is at most d, so that a pipe may keep 100 of what an earlier piece has left.
    std::size_t of(std::size_t d) const {
        if (value >= 1) return value < static_cast<double>(d) ? static_cast<std::size_t>(value) : d;
        if (!(value > 0)) return 0;
        return std::min(
            d, std::max(std::size_t{1}, static_cast<std::size_t>(std::lround(value * static_cast<double>(d)))));
    }

    /// Throws argument_error where the value is negative, NaN, above 1 and no integer, or more than d.
    void check(std::size_t d) const {
        if (!(value >= 0) || (value >= 1 && value != std::floor(value)))
            throw argument_error(
                detail::concat({"k = ", to_string(*this), " is neither a count nor a fraction below 1"}));
        if (value >= 1 && value > static_cast<double>(d))
            throw argument_error(detail::concat({"k = ", to_string(*this), " is above the dimension d = ", d}));
    }

    bool operator==(portion const&) const = default;
    friend std::string to_string(portion p) { return detail::shortest(p.value); }
};

}  // namespace laconic
