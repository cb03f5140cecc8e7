// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstddef>
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

template <class Field, class F>
void read_field(arguments& a, Field const& f, F& value) {
    std::string const name(f.name);
    if constexpr (ReadFromItem<F>) {
        auto const* const i = a.find(name, !f.named);
        if (!i && f.required)
            a.refuse(a.from().position, laconic::detail::concat({a.from().name, " needs a ", name, ": ", a.from().name,
                                                                 "(", name, "=...)"}));
        if (i) read_item(a, *i, value);
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
        auto const words = words_in_list<F>();
        for (std::size_t w = 0; w < words.size(); ++w)
            if (a.is_word(*i) && i->word == words[w]) return static_cast<void>(value = static_cast<F>(w));
        a.refuse(i->position, laconic::detail::concat({name, " is ", list(words)}));
    } else if constexpr (is_whole<F>) {
        value = static_cast<F>(a.whole(name, f.required ? std::nullopt : std::optional(static_cast<std::size_t>(value)),
                                       f.least, f.most, !f.named));
    } else {
        auto const by_default = [&]() -> std::optional<double> {
            if (f.required) return std::nullopt;
            if constexpr (std::same_as<F, portion>)
                return value.value;
            else
                return value;
        }();
        double const read = a.number(name, by_default, !f.named);
        if (!(read >= f.least && read <= f.most))
            a.refuse(a.from().position, laconic::detail::concat({name, " is from ", f.least, " to ", f.most}));
        value = F(read);
    }
}

}  // namespace detail

/// Takes the fields of a V from the arguments of a call; those that are absent have their defaults. Throws parse_error
/// with the place.
template <Described V>
V read_fields(arguments& a) {
    V v{};
    laconic::detail::for_each_field(v, [&](auto const& f, auto& value) { detail::read_field(a, f, value); });
    return v;
}

}  // namespace laconic::grammar
