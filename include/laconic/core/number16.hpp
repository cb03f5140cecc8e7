// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <type_traits>

#include "laconic/core/contract.hpp"

namespace laconic::detail {

/// A number of 16 bits that converts to float and back: Eigen::bfloat16, Eigen::half, _Float16, std::bfloat16_t, your
/// own.
template <class E>
concept Number16 = sizeof(E) == 2 && !std::is_integral_v<E> && std::is_trivially_copyable_v<E> &&
                   requires(E e, float f) {
    static_cast<float>(e);
    static_cast<E>(f);
};

}  // namespace laconic::detail
