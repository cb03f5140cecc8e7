// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <string>

#include "laconic/collective/cost_formulas.hpp"
#include "laconic/core/text.hpp"

namespace laconic {

/// Exchanges that give the same sum, to rounding.
enum class sum_by {
    gathered_sum,
    recursive_doubling,
    split_all_gather,
    split_all_gather_dense,
    omni_reduce,
    ring,
    halving_doubling
};
inline constexpr std::size_t sum_count = 7;

inline std::string to_string(sum_by which) {
    constexpr std::array<char const*, sum_count> names = {
        "gathered_sum", "recursive_doubling", "split_all_gather(sparse)", "split_all_gather(dense)", "omni_reduce",
        "ring",         "halving_doubling"};
    return names[static_cast<std::size_t>(which)];
}

/// Which of them is quickest, by cost_formulas, and why.
struct collective_choice {
    collective_load what;
    std::array<double, sum_count> seconds{};
    sum_by best = sum_by::gathered_sum;  ///< of equal ones the first

    /// Throws argument_error as cost_formulas.
    collective_choice(network const& net, collective_load const& load, reading_cost const& reading = {}) : what(load) {
        cost_formulas const f(net, load, reading);
        seconds = {f.gathered_sum(),         f.recursive_doubling(), f.split_all_gather(),
                   f.split_all_gather(true), f.omni_reduce(),        f.ring(),
                   f.halving_doubling()};
        best = static_cast<sum_by>(std::min_element(seconds.begin(), seconds.end()) - seconds.begin());
    }

    /// "ring: 8 ranks, 400 of 1000 numbers each, 0.5 s; next gathered_sum 0.7 s, ..", by how long they take.
    friend std::string to_string(collective_choice const& c) {
        std::array<std::size_t, sum_count> order{};
        for (std::size_t i = 0; i < sum_count; ++i) order[i] = i;
        std::stable_sort(order.begin(), order.end(),
                         [&](std::size_t a, std::size_t b) { return c.seconds[a] < c.seconds[b]; });
        std::string text =
            detail::concat({to_string(c.best), ": ", c.what.ranks, " ranks, ", std::llround(c.what.k), " of ",
                            std::llround(c.what.d), " numbers each, ", rounded(c.seconds[order[0]]), " s; next "});
        for (std::size_t i = 1; i < sum_count; ++i)
            text += detail::concat({(i == 1 ? "" : ", "), to_string(static_cast<sum_by>(order[i])), " ",
                                    rounded(c.seconds[order[i]]), " s"});
        return text;
    }

  private:
    // To three digits, for the eye.
    static std::string rounded(double x) {
        char text[32];
        std::snprintf(text, sizeof text, "%.3g", x);
        return text;
    }
};

}  // namespace laconic
