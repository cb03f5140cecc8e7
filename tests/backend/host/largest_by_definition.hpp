// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <vector>

#include "laconic/backend/host/impl/kth_largest.hpp"
#include "laconic/core/term.hpp"

/// The k coordinates of largest magnitude by their definition: sorted by magnitude, a NaN first, equal ones by
/// coordinate; the first k of them, ascending.
template <class T>
std::vector<laconic::coordinate> largest_by_definition(std::vector<T> const& x, std::size_t k) {
    std::vector<laconic::coordinate> order(x.size());
    std::iota(order.begin(), order.end(), 0u);
    std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) {
        return laconic::detail::magnitude_bits(x[a]) > laconic::detail::magnitude_bits(x[b]);
    });
    order.resize(k);
    std::sort(order.begin(), order.end());
    return order;
}
