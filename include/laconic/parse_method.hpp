// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>
#include <vector>

#include "laconic/any/parse.hpp"
#include "laconic/any/parse_collective.hpp"
#include "laconic/any/parse_step.hpp"
#include "laconic/decentralized/gadmm.hpp"
#include "laconic/decentralized/gossip.hpp"
#include "laconic/method/arguments.hpp"
#include "laconic/method/methods.hpp"
#include "laconic/second_order/ds_lsr1.hpp"
#include "laconic/second_order/fednl.hpp"

namespace laconic {

/// The methods of other families that minimise the mean of the ranks' objectives, each by a loop of its own (loop.hpp),
/// where a compressor that they take is a C, and a collective an X.
template <class C, class X>
using library_loop_methods =
    detail::type_list<gadmm, d_gadmm, q_gadmm, choco<C>, pair_gossip, fednl<C, plain<>, X>, ds_lsr1<X>>;

/// In its list, about.about is what a method is by the equation of recursion.hpp.
template <Scalar T>
struct registry<any_method<T>> {
    static constexpr char const* kind = "a method";
    using types = detail::types_of_both<
        detail::types_of_both<detail::library_methods<any_compressor<T>, any_method<T>>,
                              library_loop_methods<any_compressor<T>, any_collective<T>>>,
        detail::type_list<with_step<any_method<T>, any_step<T>>, detail::cat_of_family<T>, detail::cat_of_method<T>>>;
};

/// Reads the text of a method, such as "diana(rand_k(0.1))" or "gd_sec(xi=100, beta=0.01)"; throws parse_error with the
/// place and the valid names.
template <Scalar T = double>
any_method<T> parse_method(std::string_view text) {
    return grammar::parse<any_method<T>>(text);
}

/// All methods that parse_method reads. (A template, so that only its callers compile all methods.)
template <Scalar T = double>
std::vector<listed_value> list_methods() {
    return grammar::abouts<any_method<T>>();
}

}  // namespace laconic
