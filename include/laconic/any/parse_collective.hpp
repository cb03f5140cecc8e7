// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>
#include <vector>

#include "laconic/any/collective.hpp"
#include "laconic/any/parse.hpp"
#include "laconic/collective/collectives.hpp"

namespace laconic {

template <Scalar T>
struct registry<any_rule<T>> {
    static constexpr char const* kind = "a rule";
    static constexpr bool listed_in_place = true;
    using types = detail::type_list<robust_rules::coordinate_median, robust_rules::trimmed_mean,
                                    robust_rules::geometric_median, robust_rules::krum, robust_rules::centered_clip,
                                    robust_rules::median_norm_clip, robust_rules::mean_over_senders>;
};

template <Scalar T, class B>
struct registry<any_collective<T, B>> {
    static constexpr char const* kind = "a collective";
    using types = detail::types_of_both<detail::library_collectives,
                                        detail::type_list<two_shot<any_compressor<T, B>>, robust<any_rule<T>>>>;
};

/// Reads the text of a collective, such as "gtop_k(0.01)"; to_string of the result reads back as the same. Throws
/// parse_error with the place and the valid names.
template <Scalar T = double, class B = host>
any_collective<T, B> parse_collective(std::string_view text) {
    return grammar::parse<any_collective<T, B>>(text);
}

/// All collectives that parse_collective reads. (A template, so that only its callers compile all collectives.)
template <Scalar T = double, class B = host>
std::vector<listed_value> list_collectives() {
    return grammar::abouts<any_collective<T, B>>();
}

}  // namespace laconic
