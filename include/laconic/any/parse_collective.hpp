// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "laconic/any/collective.hpp"
#include "laconic/any/fields.hpp"
#include "laconic/any/grammar.hpp"
#include "laconic/collective/collectives.hpp"
#include "laconic/core/description.hpp"
#include "laconic/core/type_list.hpp"

namespace laconic {

namespace detail {

template <Scalar T, class B>
struct named_collective {
    listed_value about;
    any_collective<T, B> (*make)(grammar::arguments&);
};
template <Scalar T, class B>
any_collective<T, B> split_all_gather_named(grammar::arguments& a) {
    auto const* const i = a.peek("then");
    if (!i || (a.is_word(*i) && (i->word == "sparse" || i->word == "dense")))
        return grammar::read_fields<split_all_gather>(a);
    if (i->calls.size() != 1 || i->calls[0].name != "quantize")
        a.refuse(i->position, "what is gathered is sparse, dense or quantize(levels)");
    return grammar::read_fields<compressed_split_all_gather<quantize>>(a);
}

template <Scalar T, class B, Described X>
named_collective<T, B> named() {
    if constexpr (std::same_as<X, split_all_gather>)
        return {listed<X>(), split_all_gather_named<T, B>};
    else
        return {listed<X>(), [](grammar::arguments& a) -> any_collective<T, B> { return grammar::read_fields<X>(a); }};
}
template <Scalar T, class B, class... X>
std::vector<named_collective<T, B>> named_collectives_of(type_list<X...>) {
    return {named<T, B, X>()...};
}
template <Scalar T, class B>
std::vector<named_collective<T, B>> const& named_collectives() {
    static auto const all = named_collectives_of<T, B>(library_collectives{});
    return all;
}

template <Scalar T, class B>
any_collective<T, B> make_collective(std::string_view text, grammar::pipe const& calls) {
    return grammar::make_named(named_collectives<T, B>(), text, calls, "a collective");
}

}  // namespace detail

/// Reads an argument that is a collective (any/fields.hpp).
template <Scalar T, class B>
void read_item(grammar::arguments& a, grammar::item const& i, any_collective<T, B>& x) {
    x = detail::make_collective<T, B>(a.text(), i.calls);
}

/// Reads the text of a collective, such as "gtop_k(0.01)"; to_string of the result reads back as the same. Throws
/// parse_error with the place and the valid names.
template <Scalar T = double, class B = host>
any_collective<T, B> parse_collective(std::string_view text) {
    return detail::make_collective<T, B>(text, grammar::read_pipe(text));
}

/// All collectives that parse_collective reads. (A template, so that only its callers compile all collectives.)
template <Scalar T = double, class B = host>
std::vector<listed_value> list_collectives() {
    return grammar::abouts(detail::named_collectives<T, B>());
}

}  // namespace laconic
