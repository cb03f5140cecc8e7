// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "laconic/core/contract.hpp"

namespace laconic {

namespace detail {

template <class V, class T>
struct named_within {
    using type = V;
};

}  // namespace detail

/// V, named so that it depends on T: what a template of T computes with it is compiled by that template's callers only,
/// not by everybody who includes it.
template <class V, class T>
using dependent = typename detail::named_within<V, T>::type;

}  // namespace laconic
