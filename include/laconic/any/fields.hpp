// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "laconic/any/grammar.hpp"
#include "laconic/core/description.hpp"
#include "laconic/core/portion.hpp"

/// Values read from texts by their descriptions (core/description.hpp).
namespace laconic::grammar {

namespace detail {

template <class F>
constexpr bool is_whole = std::integral<F> && !std::same_as<F, bool>;

// The words of an enumeration as a list of strings.
template <class E>
std::vector<std::string> words_in_list() {
    std::vector<std::string> all;
    for (std::string_view const w : words_of(E{})) all.emplace_back(w);
    return all;
}

// A value that a text names, such as a compressor: read_item(a, i, value) beside its type reads one argument.
template <class F>
concept ReadFromItem = requires(arguments& a, item const& i, F& value) {
    read_item(a, i, value);
};

}  // namespace detail

template <Described V>
void read_fields(arguments& a, V& v);

/// Takes one field from the arguments of a call; where it is absent, `value` keeps its default. Throws parse_error with
/// the place.
template <class F>
void read_field(arguments& a, field_facts const& f, F& value) {
    std::string const name(f.name);
    if constexpr (std::is_const_v<F>) {  // the type decides it
        auto const* const i = a.peek(name, !f.named);
        std::remove_const_t<F> read{};
        read_field(a, f, read);
        if (read != value)
            a.refuse(i ? i->position : a.from().position,
                     laconic::detail::concat({name, " is ", laconic::detail::text_of_field(value), " here"}));
    } else if constexpr (detail::ReadFromItem<F>) {
        if (auto const* const i = f.required ? &a.needed(name, !f.named, "a ") : a.find(name, !f.named))
            read_item(a, *i, value);
    } else if constexpr (Described<F>) {
        auto const* const i = f.required ? &a.needed(name, !f.named, "a ") : a.find(name, !f.named);
        if (!i) return;
        arguments inside(a.text(), i->calls[0]);
        if (i->calls.size() > 1 || i->calls[0].name != laconic::detail::name_of_type<F>())
            a.refuse(i->position, laconic::detail::concat({name, " is ", laconic::detail::name_of_type<F>()}));
        read_fields(inside, value);
        inside.finish();
    } else if constexpr (laconic::detail::is_optional<F>) {
        if (a.peek(name, !f.named))
            read_field(a, f, value.emplace());
        else
            a.find(name, !f.named);  // so that errors list it
    } else if constexpr (std::same_as<F, bool>) {
        if (auto const* const i = a.find(name, false)) value = a.yes_or_no(*i, name);
    } else if constexpr (laconic::detail::HasWords<F>) {
        auto const* const i = a.find(name, !f.named);
        if (!i) return;
        auto const words = detail::words_in_list<F>();
        for (std::size_t w = 0; w < words.size(); ++w)
            if (a.is_word(*i) && i->word == words[w]) return static_cast<void>(value = static_cast<F>(w));
        a.refuse(i->position, laconic::detail::concat({name, " is ", list(words)}));
    } else if constexpr (detail::is_whole<F>) {
        double const largest = std::min(0x1p53, static_cast<double>(std::numeric_limits<F>::max()));
        value = static_cast<F>(a.whole(name, f.required ? std::nullopt : std::optional(static_cast<std::size_t>(value)),
                                       std::max(f.least, 0.0), std::min(f.most, largest), !f.named));
    } else {
        auto const by_default = [&]() -> std::optional<double> {
            if (f.required) return std::nullopt;
            if constexpr (std::same_as<F, portion>)
                return value.value;
            else
                return value;
        }();
        value = F(a.number(name, by_default, !f.named, f.least, f.most));
    }
}

/// Takes the fields of v from the arguments of a call; those that are absent stay as they are. Throws parse_error with
/// the place.
template <Described V>
void read_fields(arguments& a, V& v) {
    laconic::detail::for_each_field(v, [&](auto const& f, auto& value) { read_field(a, f.facts, value); });
}
/// The same for a V by default.
template <Described V>
V read_fields(arguments& a) {
    V v{};
    read_fields(a, v);
    return v;
}

/// Whether the arguments say what the type of a listed value decides, so that they are its own and not those of another
/// type with its name.
inline bool chooses(arguments const& a, listed_value const& v) {
    auto const* const i = v.decided.name.empty() ? nullptr : a.peek(v.decided.name, false);
    return i ? i->word == v.decided.word : v.decided.is_default;
}

/// The entry of a list that has a call's name as its about.name (about is a listed_value); of several, the one that the
/// arguments choose. Throws parse_error with the place and the valid names.
template <class Entry>
Entry const& find_named(std::vector<Entry> const& all, arguments const& a, std::string const& kind) {
    std::vector<std::string> names;
    Entry const* found = nullptr;
    for (auto const& e : all) {
        if (e.about.name == a.from().name && !(found && chooses(a, found->about))) found = &e;
        if (names.empty() || names.back() != e.about.name) names.push_back(e.about.name);
    }
    if (!found) a.refuse(a.from().position, no_such(kind, a.from().name, names));
    return *found;
}

/// Makes what the one call of a text names, by the entry with that name, which has make(arguments). `kind` is the kind
/// of the entries, with its article. Throws parse_error with the place and the valid names.
template <class Entries>
auto make_named(Entries const& all, std::string_view text, pipe const& calls, std::string const& kind) {
    arguments a(text, calls[0]);
    auto const& found = find_named(all, a, kind.substr(kind.find(' ') + 1));
    if (calls.size() > 1) a.refuse(calls[1].position, laconic::detail::concat({kind, " cannot be part of a pipe"}));
    auto made = found.make(a);
    a.finish();
    return made;
}

/// What lists have of such entries.
template <class Entries>
std::vector<listed_value> abouts(Entries const& all) {
    std::vector<listed_value> list;
    for (auto const& e : all) list.push_back(e.about);
    return list;
}

}  // namespace laconic::grammar
