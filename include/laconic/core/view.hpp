// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstddef>
#include <span>
#include <type_traits>
#include <utility>

#include "laconic/core/contract.hpp"

/// The library's functions work on std::span; view(x) makes one of any contiguous range.
namespace laconic {

/// The number types of vectors.
template <class T>
concept Scalar = std::same_as<T, float> || std::same_as<T, double>;

namespace detail {

// An Eigen expression may have data() and size() and yet skip elements: with an inner stride other than 1, or with two
// dimensions.
template <class X>
consteval bool skips_elements() {
    if constexpr (requires {
                      X::InnerStrideAtCompileTime;
                      X::IsVectorAtCompileTime;
                  })
        return X::InnerStrideAtCompileTime != 1 || !X::IsVectorAtCompileTime;
    else
        return false;
}

}  // namespace detail

/// A range whose elements lie one after another in memory that the CPU can reach: std::vector, std::span, std::array,
/// an Eigen vector, your own type with data() and size().
template <class X>
concept Contiguous = requires(X& x) {
    { x.size() } -> std::convertible_to<std::size_t>;
    requires std::is_pointer_v<decltype(x.data())>;
}
&&!detail::skips_elements<std::remove_cvref_t<X>>();

/// A span over x. It does not own: x must outlive it, so temporaries that own their elements are refused.
template <Contiguous X>
auto view(X& x) {
    return std::span<std::remove_pointer_t<decltype(x.data())>>(x.data(), static_cast<std::size_t>(x.size()));
}
template <class T>
std::span<T> view(std::span<T> x) {
    return x;
}

/// The type of one element of a contiguous range, without const.
template <Contiguous X>
using element_of = std::remove_cv_t<std::remove_pointer_t<decltype(std::declval<X&>().data())>>;

}  // namespace laconic
