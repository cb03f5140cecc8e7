// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "laconic/compress/one_of.hpp"
#include "laconic/core/cost.hpp"

/// The least share of |x|^2 that best_level{c, cost} keeps for any x of d numbers of T: its delta, where the cost is
/// known. The level l that is chosen has the largest q(l) / cost(l), so that it keeps at least cost(l) max_k q(k) /
/// cost(k). A cost per message or per packet can make that far more than what the lowest level keeps. `worth` is the
/// least ratio of the chosen level's worth to the best one's, below 1 where it is chosen by a histogram of x.
namespace laconic::detail {

/// Computed as min_l max{ delta(l), cost(l) max_k delta(k) / cost(k) }. top_k attains it where the cost is affine.
template <Scalar T, class C, CommunicationCost Cost>
requires Contractive<C>
double guaranteed_share(C const& c, Cost const& cost, std::size_t d, double worth = 1) {
    std::size_t const count = levels<C>::count(c, d);
    auto const delta = [&](std::size_t k) { return levels<C>::at(c, k, d).delta(d); };
    auto const price = [&](std::size_t k) { return cost(levels<C>::template bits<T>(c, k, d)); };
    double most = 0, share = 1;
    bool priced = true;
    for (std::size_t k = 1; k <= count; ++k) {
        most = std::max(most, delta(k) / price(k));
        priced = priced && price(k) > 0 && std::isfinite(price(k));
    }
    if (!priced) most = 0;  // there is no level, or one is free or has no finite price
    for (std::size_t k = 1; k <= count; ++k) share = std::min(share, std::max(delta(k), worth * most * price(k)));
    return share;
}

/// The same for top_k | scaled_sign, whose levels send x_1 >= .. >= x_k as their mean. With r the largest of q(k) /
/// cost(k), the sums S_k = x_1 + .. + x_k are at most sqrt(r k cost(k)) |x|, and so at most sqrt(r) |x| U_k, where U is
/// the least concave sequence above 0 and all sqrt(k cost(k)). Of descending numbers with sums S <= sqrt(r) |x| U,
/// where U is concave, none have more squares than the increments u of sqrt(r) |x| U themselves (sum by parts, twice):
/// so r is at least 1 / sum u_k^2, and the share is at least cost(1) / sum u_k^2. It is attained where sqrt(k cost(k))
/// is concave, as for affine costs.
template <Scalar T, CommunicationCost Cost>
double guaranteed_share(top_k<scaled_sign> const& c, Cost const& cost, std::size_t d, double worth = 1) {
    if (d == 0) return 1;
    auto const price = [&](std::size_t k) { return cost(levels<top_k<scaled_sign>>::bits<T>(c, k, d)); };
    double const first = price(1), alone = 1 / static_cast<double>(d);
    if (!(first > 0 && std::isfinite(price(d)))) return alone;
    struct corner {
        double k, height;
    };
    std::vector<corner> hull{{0, 0}};
    auto const slope = [](corner a, corner b) { return (b.height - a.height) / (b.k - a.k); };
    for (std::size_t k = 1; k <= d; ++k) {
        auto const n = static_cast<double>(k);
        corner const next{n, std::sqrt(n * (price(k) / first))};
        while (hull.size() > 1 && slope(hull[hull.size() - 2], hull.back()) <= slope(hull.back(), next))
            hull.pop_back();
        hull.push_back(next);
    }
    double squares = 0;
    for (std::size_t j = 1; j < hull.size(); ++j)
        squares += slope(hull[j - 1], hull[j]) * (hull[j].height - hull[j - 1].height);
    return std::max(alone, worth / squares);
}

/// The same for the better one of two: the worth is at least that of the better one's best level, and the cost at least
/// that of the cheaper one's first level.
template <Scalar T, class First, class Second, CommunicationCost Cost>
double guaranteed_share(one_of<First, Second> const& c, Cost const& cost, std::size_t d, double worth = 1) {
    if (d == 0) return 1;
    double const a = guaranteed_share<T>(c.first, cost, d, worth), b = guaranteed_share<T>(c.second, cost, d, worth);
    double const of_a = cost(levels<First>::template bits<T>(c.first, 1, d));
    double const of_b = cost(levels<Second>::template bits<T>(c.second, 1, d));
    double const lowest =
        std::min(levels<First>::at(c.first, 1, d).delta(d), levels<Second>::at(c.second, 1, d).delta(d));
    double const share = worth * std::max(a / of_a, b / of_b) * std::min(of_a, of_b);
    return share > lowest && std::isfinite(share) ? share : lowest;
}

}  // namespace laconic::detail
