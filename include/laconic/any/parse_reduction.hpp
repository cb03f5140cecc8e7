// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "laconic/any/fields.hpp"
#include "laconic/any/grammar.hpp"
#include "laconic/any/parse.hpp"
#include "laconic/any/parse_collective.hpp"
#include "laconic/any/reduction.hpp"
#include "laconic/core/description.hpp"

namespace laconic {

namespace detail {

template <Scalar T, class B>
struct named_reduction {
    listed_value about;
    any_reduction<T, B> (*make)(grammar::arguments&);
};

template <Scalar T, class B>
any_reduction<T, B> make_reduction(std::string_view text, grammar::pipe const& calls);

template <Scalar T, class B, Described R>
named_reduction<T, B> named_reduction_of() {
    return {listed<R>(), [](grammar::arguments& a) -> any_reduction<T, B> { return grammar::read_fields<R>(a); }};
}

template <Scalar T, class B>
std::vector<named_reduction<T, B>> const& named_reductions() {
    using any = any_compressor<T, B>;
    using over = any_collective<T, B>;
    static std::vector<named_reduction<T, B>> const all = {
        named_reduction_of<T, B, plain<any, over>>(),
        named_reduction_of<T, B, error_feedback<any, over>>(),
        named_reduction_of<T, B, shifted<any, over>>(),
        named_reduction_of<T, B, ef21_shift<any, over>>(),
        named_reduction_of<T, B, majority_vote<over>>(),
        {{"unproved", "(reduction)", "one of these for which there is no theorem, as it is"},
         [](grammar::arguments& a) -> any_reduction<T, B> {
             return unproved<any_reduction<T, B>>{
                 make_reduction<T, B>(a.text(), a.needed("reduction", true, "a ").calls)};
         }},
    };
    return all;
}

template <Scalar T, class B>
any_reduction<T, B> make_reduction(std::string_view text, grammar::pipe const& calls) {
    return grammar::make_named(named_reductions<T, B>(), text, calls, "a reduction");
}

}  // namespace detail

/// Reads the text of a reduction, such as "error_feedback(top_k(0.01) | natural, decay=0.9)"; to_string of the result
/// reads back as the same. Throws parse_error with the place and the valid names.
template <Scalar T = float, class B = host>
any_reduction<T, B> parse_reduction(std::string_view text) {
    return detail::make_reduction<T, B>(text, grammar::read_pipe(text));
}

/// All reductions that parse_reduction reads. (A template, so that only its callers compile all reductions.)
template <Scalar T = float, class B = host>
std::vector<listed_value> list_reductions() {
    return grammar::abouts(detail::named_reductions<T, B>());
}

}  // namespace laconic
