// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <type_traits>

#include "laconic/core/contract.hpp"

namespace laconic::detail {

/// A list of types, such as all methods of the library; what reads or tests all of them takes them from there.
template <class... V>
struct type_list {};

template <class... A, class... B>
type_list<A..., B...> joined(type_list<A...>, type_list<B...>);
/// The types of both lists.
template <class First, class Second>
using types_of_both = decltype(detail::joined(First(), Second()));

/// V, named so that it depends on T: what a template of T computes with it is compiled by that template's callers only,
/// not by everybody who includes it.
template <class V, class T>
using dependent = std::conditional_t<true, V, T>;

}  // namespace laconic::detail
