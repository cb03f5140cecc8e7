// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <type_traits>
#include <utility>

#include "laconic/core/view.hpp"

namespace laconic::detail {

/// The element types that a reducer which computes in T accepts: T itself, and where T is float also numbers of 16
/// bits.
template <class E, class T>
concept ReducedAs = std::same_as<E, T> ||(std::same_as<T, float>&& Number16<E>);

// Whether a step of a reducer that computes in T takes an argument of type X&&, into which finish() writes; where not,
// the compiler prints what to change and compiles no further.
template <Scalar T, class X>
consteval bool takes() {
    using held = std::remove_reference_t<X>;
    constexpr bool is_contiguous = Contiguous<held>;
    static_assert(is_contiguous,
                  "a reducer takes a vector whose numbers lie one after another in memory: a vector, array or span, an "
                  "Eigen vector or matrix, or your own type with data() and size(); an expression, such as 2 * x of "
                  "Eigen's, is first assigned to a vector");
    if constexpr (is_contiguous) {
        using E = element_of<held>;
        constexpr bool is_const = std::is_const_v<std::remove_reference_t<decltype(*std::declval<held&>().data())>>;
        constexpr bool is_of_double = std::same_as<E, double> && std::same_as<T, float>;
        constexpr bool ends_first = std::same_as<X, held> && owns_elements<held>();
        static_assert(!is_const, "x is const: a reducer replaces its numbers by the estimate");
        static_assert(!is_of_double,
                      "x holds double, and this reducer computes in float: make it with x in place of sizes or layers, "
                      "or by reducer_of<double>(how, comm, layers)");
        static_assert(is_of_double || ReducedAs<E, T>,
                      "x holds other numbers than those that this reducer computes in: a reducer of float takes float "
                      "and numbers of 16 bits, one of double takes double");
        static_assert(!ends_first,
                      "x is a temporary that owns its numbers, so that the estimate which finish() writes into it is "
                      "lost: give it a name, and keep it until finish() returns; a span may be a temporary");
        return !is_const && ReducedAs<E, T> && !ends_first;
    }
    return false;
}

// Whether the constructor of a reducer that computes in T takes a vector of X for its length.
template <Scalar T, class X>
consteval bool is_like() {
    constexpr bool is_of_its_type = ReducedAs<element_of<X>, T>;
    static_assert(is_of_its_type,
                  "the third argument holds numbers of another type than this reducer computes in, float, double or "
                  "numbers of 16 bits; the sizes of layers are of type size_t, and several vectors are layers: "
                  "layers_of({n, m})");
    return true;
}

}  // namespace laconic::detail
