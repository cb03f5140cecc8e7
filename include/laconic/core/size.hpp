// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstddef>

#include "laconic/core/contract.hpp"

namespace laconic::detail {

/// n, at least 0 and within memory, as a number of elements. (Where n is of type std::size_t on some processors alone,
/// a cast would be one that g++ calls useless there.)
template <std::integral N>
constexpr std::size_t as_size(N n) {
    return static_cast<std::size_t>(n);
}

}  // namespace laconic::detail
