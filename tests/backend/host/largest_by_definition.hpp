// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <vector>

#include "laconic/backend/host/impl/kth_largest.hpp"
#include "laconic/core/term.hpp"

/// The k coordinates of largest magnitude by their definition: of all in the order of their magnitudes, a NaN first, equal
/// ones by coordinate, the first k, ascending.
template <class T>
std::vector<laconic::coordinate> largest_by_definition(std::vector<T> const& x, std::size_t k) {
    std::vector<laconic::coordinate> order(x.size());
    std::iota(order.begin(), order.end(), 0u);
    std::nth_element(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(k), order.end(), [&](auto a, auto b) {
        auto const one = laconic::detail::magnitude_bits(x[a]), other = laconic::detail::magnitude_bits(x[b]);
        return one != other ? one > other : a < b;
    });
    order.resize(k);
    std::sort(order.begin(), order.end());
    return order;
}
