// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstddef>
#include <type_traits>

#include "laconic/core/contract.hpp"

namespace laconic::detail {

/// n, at least 0 and within memory, as a number of elements. (Where n is of type std::size_t on some processors alone,
/// a cast would be one that g++ calls useless there.)
template <std::integral N>
constexpr std::size_t as_size(N n) {
    return static_cast<std::size_t>(n);
}

/// How many pieces of `length` >= 1 n things make; the last may be shorter.
template <std::unsigned_integral N>
constexpr N pieces_in(N n, std::type_identity_t<N> length) {
    return n / length + (n % length != 0);
}

}  // namespace laconic::detail
