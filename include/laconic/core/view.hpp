// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <utility>

#include "laconic/core/contract.hpp"

/// The library's functions work on std::span; detail::view(x) makes one of any contiguous range.
namespace laconic {

/// The number types of vectors.
template <class T>
concept Scalar = std::same_as<T, float> || std::same_as<T, double>;

namespace detail {

/// The unsigned integer of as many bits as a T: what a number's binary form is taken for.
template <Scalar T>
using bits_of = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;

/// A number of 16 bits that converts to float and back: Eigen::bfloat16, Eigen::half, _Float16, std::bfloat16_t, your
/// own.
template <class E>
concept Number16 = sizeof(E) == 2 && !std::is_integral_v<E> && std::is_trivially_copyable_v<E> &&
                   requires(E e, float f) {
    static_cast<float>(e);
    static_cast<E>(f);
};

// The strides of Eigen's Map and Ref.
template <class X>
struct strides_of {};
template <template <class, int, class> class M, class Plain, int options, class Strides>
struct strides_of<M<Plain, options, Strides>> {
    using type = Strides;
};

// An Eigen expression may have data() and size() and yet skip elements: a vector with an inner stride other than 1, and
// all matrices but those that own their elements or say by their type that these are in one piece.
template <class X>
consteval bool skips_elements() {
    if constexpr (requires {
                      X::InnerStrideAtCompileTime;
                      X::IsVectorAtCompileTime;
                  }) {
        if constexpr (X::IsVectorAtCompileTime) return X::InnerStrideAtCompileTime != 1;
        if constexpr (requires { typename strides_of<X>::type; }) {
            using strides = typename strides_of<X>::type;
            return strides::InnerStrideAtCompileTime != 0 || strides::OuterStrideAtCompileTime != 0;
        }
        return !std::same_as<typename X::PlainObject, X>;
    } else {
        return false;
    }
}

}  // namespace detail

/// A range whose elements lie one after another in memory that the CPU can reach: std::vector, std::span, std::array,
/// an Eigen vector or matrix, your own type with data() and size().
template <class X>
concept Contiguous = requires(X& x) {
    { x.size() } -> std::convertible_to<std::size_t>;
    requires std::is_pointer_v<decltype(x.data())>;
}
&&!detail::skips_elements<std::remove_cvref_t<X>>();

namespace detail {

/// A span over x. It does not own: x must outlive it, so temporaries that own their elements are refused.
auto view(Contiguous auto& x) {
    return std::span<std::remove_pointer_t<decltype(x.data())>>(x.data(), static_cast<std::size_t>(x.size()));
}
template <class T>
std::span<T> view(std::span<T> x) {
    return x;
}

/// The type of one element of a contiguous range, without const.
template <Contiguous X>
using element_of = std::remove_cv_t<std::remove_pointer_t<decltype(std::declval<X&>().data())>>;

// Whether the elements of an X end with it. Views of them give their address to writers even if they are const, as
// pointers do, and so do not Eigen's, which are expressions of another type than what owns the elements.
template <Contiguous X>
consteval bool owns_elements() {
    if constexpr (requires { typename X::PlainObject; })
        return std::same_as<typename X::PlainObject, std::remove_cv_t<X>>;
    else if constexpr (requires(X const& x) { x.data(); })
        return !std::same_as<decltype(std::declval<X const&>().data()), decltype(std::declval<X&>().data())>;
    else
        return true;
}

// Whether a function may write into a contiguous range of type X&&; where not, the compiler prints what to change.
template <class X>
consteval bool can_be_written() {
    using held = std::remove_reference_t<X>;
    constexpr bool is_const = std::is_const_v<std::remove_reference_t<decltype(*std::declval<held&>().data())>>;
    constexpr bool ends_first = std::same_as<X, held> && owns_elements<held>();
    static_assert(!is_const, "x is const: this function replaces its numbers");
    static_assert(
        !ends_first,
        "x is a temporary that owns its numbers, so that what this function writes into it is lost: give it a "
        "name; a span may be a temporary");
    return !is_const && !ends_first;
}

}  // namespace detail

}  // namespace laconic
