// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "laconic/collective/terms/sparse_sum.hpp"
#include "laconic/core/partition.hpp"

namespace laconic::detail {

/// The coordinates 0 .. d - 1 in one region for each of P ranks, of any lengths, so that all have about as many terms.
struct regions {
    std::size_t d = 0;
    std::vector<std::uint64_t> starts{};  ///< of each, and d; empty before the first round

    std::size_t first(std::size_t p) const { return static_cast<std::size_t>(starts[p]); }
    std::size_t length(std::size_t p) const { return first(p + 1) - first(p); }

    /// Sets equal regions where there are none. Throws shape_error where there are some, from a loaded state, of
    /// another number of ranks or of numbers.
    void prepare(std::size_t ranks) {
        if (starts.empty())
            for (std::size_t p = 0; p <= ranks; ++p) starts.push_back(detail::partition{d, ranks}.first(p));
        if (starts.size() != ranks + 1 || starts[0] != 0 || starts[ranks] != d ||
            !std::is_sorted(starts.begin(), starts.end()))
            throw shape_error(concat({"this state is not of ", ranks, " ranks and ", d, " numbers"}));
    }
    /// Where region p of `ranks` would start for v alone; where v has no terms, in equal parts.
    template <Scalar T, class B>
    std::uint64_t quantile(sparse_sum<T, B> const& v, std::size_t p, std::size_t ranks) const {
        if (v.size() == 0) return detail::partition{d, ranks}.first(p);
        return v.support()[detail::partition{v.size(), ranks}.first(p)];
    }
    /// Sets other starts. They ascend, as means of ascending starts; if a rank has sent others, they are raised.
    void move(std::vector<std::uint64_t> const& next) {
        for (std::size_t p = 1; p + 1 < starts.size(); ++p) starts[p] = std::max(starts[p - 1], next[p]);
    }
    /// Whether one of them has more than four times its share of v's terms.
    template <Scalar T, class B>
    bool uneven(sparse_sum<T, B> const& v) const {
        auto const ranks = starts.size() - 1, bound = 4 * (v.size() / ranks + 1);
        bool found = false;
        for (std::size_t p = 0; p < ranks; ++p) found |= v.count_below(first(p + 1)) - v.count_below(first(p)) > bound;
        return found;
    }
};

}  // namespace laconic::detail
