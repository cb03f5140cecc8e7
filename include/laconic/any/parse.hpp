// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "laconic/any/best_level.hpp"
#include "laconic/any/compressor.hpp"
#include "laconic/any/fields.hpp"
#include "laconic/any/grammar.hpp"
#include "laconic/compress/compressors.hpp"
#include "laconic/compress/parts.hpp"
#include "laconic/compress/scaled_down.hpp"
#include "laconic/core/description.hpp"
#include "laconic/core/text.hpp"

namespace laconic {

namespace detail {

// A sparsifier gets what follows it in the pipe; nothing may follow a quantizer.
template <Scalar T, class B>
struct named_compressor {
    listed_value about;
    bool sparsifier;
    any_compressor<T, B> (*make)(grammar::arguments&, any_compressor<T, B> const* rest);
};
template <Scalar T, class B, Described C>
named_compressor<T, B> named_compressor_of() {
    return {listed<C>(), Sparsifier<C>,
            [](grammar::arguments& a, [[maybe_unused]] auto const* rest) -> any_compressor<T, B> {
                C const c = grammar::read_fields<C>(a);
                if constexpr (Sparsifier<C>)
                    if (rest) return c.with(*rest);
                return c;
            }};
}

template <Scalar T, class B>
any_compressor<T, B> make_compressor(std::string_view text, grammar::pipe const& calls);

template <Scalar T, class B>
any_compressor<T, B> parts_named(grammar::arguments& a, any_compressor<T, B> const*) {
    std::vector<typename parts<any_compressor<T, B>>::piece> list;
    while (2 * list.size() < a.from().items.size()) {
        auto const length = a.whole("length", 0, 0, 0x1p32);
        auto const* const inside = a.find("compressor");
        if (!inside)
            a.refuse(a.from().position,
                     "parts takes lengths and compressors by turns: parts(6, scaled_sign, 2, identity)");
        list.push_back({length, make_compressor<T, B>(a.text(), inside->calls)});
    }
    return parts<any_compressor<T, B>>(std::move(list));
}

template <Scalar T, class B, class... C>
std::vector<named_compressor<T, B>> compressors_of(type_list<C...>) {
    std::vector<named_compressor<T, B>> all;
    (all.push_back(named_compressor_of<T, B, C>()), ...);
    all.push_back(named_compressor_of<T, B, scaled_down<any_compressor<T, B>>>());
    all.push_back({{"best_level", best_level_parameters(), "the level of most progress for the cost; contractive",
                    "Khirirat, Magnusson, Aytekin, Johansson, arXiv:2003.06377"},
                   false,
                   [](grammar::arguments& a, auto const*) { return make_best_level<T, B>(a); }});
    all.push_back({{"parts", "(length, C, length, C, ...)", "consecutive parts, each with its own C", ""},
                   false,
                   parts_named<T, B>});
    return all;
}
template <Scalar T, class B>
std::vector<named_compressor<T, B>> const& named_compressors() {
    static auto const all = compressors_of<T, B>(library_compressors{});
    return all;
}

template <Scalar T, class B>
any_compressor<T, B> make_compressor(std::string_view text, grammar::pipe const& calls) {
    auto const& all = named_compressors<T, B>();
    any_compressor<T, B> result;
    for (auto at = calls.size(); at-- > 0;) {
        grammar::arguments a(text, calls[at]);
        auto const& found = grammar::find_named(all, a, "compressor");
        bool const last = at + 1 == calls.size();
        if (!last && !found.sparsifier)
            a.refuse(calls[at + 1].position,
                     concat({"'", calls[at].name, "' is a quantizer, which leaves nothing to what follows it"}));
        result = found.make(a, last ? nullptr : &result);
        a.finish();
    }
    return result;
}

}  // namespace detail

/// Reads an argument that is a compressor (any/fields.hpp).
template <Scalar T, class B>
void read_item(grammar::arguments& a, grammar::item const& i, any_compressor<T, B>& c) {
    c = detail::make_compressor<T, B>(a.text(), i.calls);
}

/// Reads the text of a compressor, such as "top_k(0.01) | natural"; to_string of the result reads back as the same.
/// Throws parse_error with the place and the valid names.
template <Scalar T = double, class B = host>
any_compressor<T, B> parse_compressor(std::string_view text) {
    return detail::make_compressor<T, B>(text, grammar::read_pipe(text));
}

/// All compressors that parse_compressor reads. (A template, so that only its callers compile all compressors.)
template <Scalar T = double, class B = host>
std::vector<listed_value> list_compressors() {
    return grammar::abouts(detail::named_compressors<T, B>());
}

}  // namespace laconic
