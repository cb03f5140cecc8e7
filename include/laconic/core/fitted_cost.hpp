// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <span>

#include "laconic/core/cost.hpp"

namespace laconic {

/// One measured message: its size in bits, above 0, and the time that it took in seconds, above 0.
struct timing {
    double bits = 0, seconds = 0;
};

/// The cost per_bit x bits + per_message in seconds, neither below 0, with the least sum of squared relative errors,
/// ((cost(bits) - seconds) / seconds)^2: times span decades, and a short message counts as much as a long one. Throws
/// argument_error for fewer than two sizes, and for sizes and times that are not finite or not above 0.
inline message_cost fit_cost(std::span<timing const> timings) {
    for (auto const& t : timings) {
        if (!(t.bits > 0 && std::isfinite(t.bits)))
            throw argument_error({"a timed message of ", t.bits, " bits: it is a finite number above 0"});
        if (!(t.seconds > 0 && std::isfinite(t.seconds)))
            throw argument_error(
                {"a message of ", t.bits, " bits timed at ", t.seconds, " seconds: it is a finite number above 0"});
    }
    if (std::none_of(timings.begin(), timings.end(), [&](auto const& t) { return t.bits != timings[0].bits; }))
        throw argument_error(
            "timings of fewer than two sizes of messages do not tell a cost per bit from one per message");
    double longest = 0, shortest_time = timings[0].seconds;  // the units: squares then neither overflow nor vanish
    for (auto const& t : timings) {
        longest = std::max(longest, t.bits);
        shortest_time = std::min(shortest_time, t.seconds);
    }
    // Weighted means, then a line through them: with u = 1 / y, the relative error of the line is u (line - y).
    double w = 0, wx = 0, wy = 0;
    auto const each = [&](auto visit) {
        for (auto const& t : timings) visit(shortest_time / t.seconds, t.bits / longest);
    };
    each([&](double u, double x) { w += u * u, wx += u * u * x, wy += u; });
    double const at = wx / w, mean = wy / w;
    double xx = 0, xy = 0, through_zero = 0, squares = 0;
    each([&](double u, double x) {
        xx += u * u * (x - at) * (x - at);
        xy += u * (x - at) * (1 - u * mean);
        through_zero += u * x;
        squares += u * u * x * x;
    });
    double slope = xx > 0 ? xy / xx : 0, fixed = mean - slope * at;
    // Where the slope or the constant would be below 0, the best lies on the edge where it is 0.
    if (slope < 0) slope = 0, fixed = mean;
    if (fixed < 0) slope = through_zero / squares, fixed = 0;
    return affine_cost(slope * (shortest_time / longest), fixed * shortest_time);
}

}  // namespace laconic
