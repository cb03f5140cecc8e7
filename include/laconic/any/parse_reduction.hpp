// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>
#include <vector>

#include "laconic/any/parse.hpp"
#include "laconic/any/parse_collective.hpp"
#include "laconic/any/reduction.hpp"
#include "laconic/reduction/loco.hpp"

namespace laconic {

template <Scalar T, class B>
struct registry<any_reduction<T, B>> {
    using C = any_compressor<T, B>;
    using X = any_collective<T, B>;
    static constexpr char const* kind = "a reduction";
    using types = detail::type_list<plain<C, X>, error_feedback<C, X>, loco<C, C, X>, shifted<C, X>, ef21_shift<C, X>,
                                    majority_vote<X>, unproved<any_reduction<T, B>>>;
};

/// Reads the text of a reduction, such as "error_feedback(top_k(0.01) | natural, decay=0.9)"; to_string of the result
/// reads back as the same. Throws parse_error with the place and the valid names.
template <Scalar T = float, class B = host>
any_reduction<T, B> parse_reduction(std::string_view text) {
    return grammar::parse<any_reduction<T, B>>(text);
}

/// All reductions that parse_reduction reads. (A template, so that only its callers compile all reductions.)
template <Scalar T = float, class B = host>
std::vector<listed_value> list_reductions() {
    return grammar::abouts<any_reduction<T, B>>();
}

}  // namespace laconic
