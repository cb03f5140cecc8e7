// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "laconic/core/contract.hpp"

namespace laconic::detail {

/// A list of types, such as all methods of the library; what reads or tests all of them takes them from there.
template <class... V>
struct type_list {};

template <class First, class Second>
struct join;
template <class... A, class... B>
struct join<type_list<A...>, type_list<B...>> {
    using type = type_list<A..., B...>;
};
/// The types of both lists.
template <class First, class Second>
using types_of_both = typename join<First, Second>::type;

template <class V, class T>
struct named_within {
    using type = V;
};
/// V, named so that it depends on T: what a template of T computes with it is compiled by that template's callers only,
/// not by everybody who includes it.
template <class V, class T>
using dependent = typename named_within<V, T>::type;

}  // namespace laconic::detail
