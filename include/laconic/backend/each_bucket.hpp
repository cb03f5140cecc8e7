// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>

#include "laconic/core/contract.hpp"

namespace laconic::detail {

/// Calls f(b, first, part) with each bucket of `bucket` >= 1 consecutive values, of which the last may be shorter: its
/// number, its first coordinate and its values.
template <class T, class F>
void each_bucket(std::span<T const> x, std::size_t bucket, F f) {
    LACONIC_EXPECTS(bucket >= 1);
    for (std::size_t b = 0, first = 0; first < x.size(); ++b) {
        auto const part = x.subspan(first, std::min(bucket, x.size() - first));
        f(b, first, part);
        first += part.size();
    }
}

}  // namespace laconic::detail
