// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "laconic/any/fields.hpp"
#include "laconic/core/listed.hpp"
#include "laconic/core/types.hpp"

/// Values of one kind by their names: the list of them, and how a text becomes one, come from the descriptions of their
/// types (core/description.hpp).
namespace laconic {

/// The types whose values a text may name where a V is wanted, such as any_compressor<T>. Specialised beside V's
/// parser, with
///     kind    what such a value is, with its article: "a compressor";
///     types   a type_list of described types, whose values convert to V. Types that share a name stand together; of
///             these the first is taken that the arguments fit.
template <class V>
struct registry;

namespace grammar {

template <class V>
struct entry {
    listed_value about;
    bool begins_pipe;
    /// Takes the arguments of a call, and what follows it in its pipe where it begins one.
    V (*make)(arguments&, V const* rest);
};
template <class V, laconic::detail::Described X>
entry<V> entry_of() {
    return {laconic::detail::listed<X>(), laconic::detail::BeginsPipe<X>,
            [](arguments& a, [[maybe_unused]] V const* rest) {
                auto const x = read_fields<X>(a);
                if constexpr (laconic::detail::BeginsPipe<X>)
                    if (rest) return V(x.with(*rest));
                return V(x);
            }};
}
template <class V, class... X>
std::vector<entry<V>> entries_of(laconic::detail::type_list<X...>) {
    return {entry_of<V, X>()...};
}
template <class V>
std::vector<entry<V>> const& entries() {
    static auto const all = entries_of<V>(typename registry<V>::types{});
    return all;
}

/// What a list has of each.
template <class V>
std::vector<listed_value> abouts() {
    std::vector<listed_value> list;
    for (auto const& e : entries<V>()) list.push_back(e.about);
    return list;
}

/// The error for a name that no entry has.
template <class V>
[[noreturn]] void refuse_name(arguments const& a) {
    std::string const kind = registry<V>::kind;
    std::vector<std::string> names;
    for (auto const& e : entries<V>())
        if (names.empty() || names.back() != e.about.name) names.push_back(e.about.name);
    a.refuse(a.from().position, no_such(kind.substr(kind.find(' ') + 1), a.from().name, names));
}

/// Makes what one call names, with the rest of its pipe. Throws parse_error with the place; where types share the name,
/// with the reason of the one that most of the text fits.
template <class V>
V make_call(std::string_view text, call const& from, V const* rest) {
    std::optional<parse_error> wrong;
    for (auto const& e : entries<V>()) {
        if (e.about.name != from.name) continue;
        arguments a(text, from);
        try {
            V made = e.make(a, rest);
            a.finish();
            return made;
        } catch (argument_error const& error) {
            wrong.emplace(std::string(text), from.position + 1, error.what());
        } catch (parse_error const& error) {
            if (!wrong || error.column > wrong->column)
                wrong = error;
            else if (error.column == wrong->column && error.why != wrong->why)
                wrong =
                    parse_error(error.text, error.column, laconic::detail::concat({wrong->why, ", or ", error.why}));
        }
    }
    if (wrong) throw *wrong;
    refuse_name<V>({text, from});
}

/// Makes what a pipe names; the calls of kinds that have no pipes stand alone.
template <class V>
V make(std::string_view text, pipe const& calls) {
    auto const& all = entries<V>();
    auto const begins_pipe = [](auto const& e) { return e.begins_pipe; };
    bool const has_pipes = std::any_of(all.begin(), all.end(), begins_pipe);
    for (std::size_t at = 0; at + 1 < calls.size(); ++at) {
        arguments const a(text, calls[at]);
        auto const e =
            std::find_if(all.begin(), all.end(), [&](auto const& x) { return x.about.name == a.from().name; });
        if (e == all.end()) refuse_name<V>(a);
        if (!has_pipes)
            a.refuse(calls[1].position, laconic::detail::concat({registry<V>::kind, " cannot be part of a pipe"}));
        if (!e->begins_pipe)
            a.refuse(calls[at + 1].position,
                     laconic::detail::concat(
                         {"'", e->about.name, "' is a quantizer, which leaves nothing to what follows it"}));
    }
    V made = make_call<V>(text, calls.back(), nullptr);
    for (auto at = calls.size() - 1; at-- > 0;) made = make_call<V>(text, calls[at], &made);
    return made;
}

/// Makes what a text names.
template <class V>
V parse(std::string_view text) {
    return make<V>(text, read_pipe(text));
}

}  // namespace grammar
}  // namespace laconic
