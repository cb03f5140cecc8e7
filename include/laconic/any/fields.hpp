// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <concepts>
#include <limits>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "laconic/any/grammar.hpp"
#include "laconic/core/description.hpp"
#include "laconic/core/portion.hpp"

/// Values read from texts by their descriptions (core/description.hpp).
namespace laconic {

template <class V>
struct registry;  // any/registry.hpp

namespace grammar {

/// A value that a text names, such as a compressor (any/registry.hpp).
template <class V>
concept Registered = requires {
    registry<V>::kind;
};
template <class V>
V make(std::string_view text, pipe const& calls);

namespace detail {

// read_item(a, i, value) beside a type reads an argument of that type.
template <class F>
concept ReadFromItem = requires(arguments& a, item const& i, F& value) {
    read_item(a, i, value);
};

// A list of described values, whose fields follow one another.
template <class F>
constexpr bool is_list = false;
template <laconic::detail::Described E>
constexpr bool is_list<std::vector<E>> = true;

// What stands before the name of what is needed: "a compressor", where that is what it is, but "k" and "once".
template <class F>
char const* article([[maybe_unused]] std::string_view name) {
    if constexpr (Registered<F>)
        return std::string_view(registry<F>::kind).ends_with(name) ? "a " : "";
    else
        return std::is_arithmetic_v<F> || std::same_as<F, laconic::portion> ? "" : "a ";
}

// The value of a number, from least to most; `most` is the largest double where there is no end.
inline double number_in(arguments const& a, item const& i, laconic::detail::field_facts const& f, bool whole,
                        double least, double most) {
    double value = 0;
    bool const is = a.is_word(i) && read_number(i.word, value);
    bool const in_range = value >= least && value <= most;
    auto const refuse = [&](laconic::detail::text_pieces why) { a.refuse(i.position, laconic::detail::concat(why)); };
    if (whole && !(is && in_range && value == std::floor(value)))
        refuse({f.name, " is a whole number from ", least, " to ", most});
    if (!is) refuse({f.name, " is a number"});
    if (!in_range && most < std::numeric_limits<double>::max()) refuse({f.name, " is from ", least, " to ", most});
    if (!in_range) refuse({f.name, " is at least ", least});
    return value;
}

}  // namespace detail

template <laconic::detail::Described V>
void read_fields(arguments& a, V& v);

/// Reads an argument as the value of a field. Throws parse_error with the place.
template <class F>
void read_value(arguments& a, item const& i, laconic::detail::field_facts const& f, F& value) {
    if constexpr (Registered<F>) {
        value = make<F>(a.text(), i.calls);
    } else if constexpr (detail::ReadFromItem<F>) {
        read_item(a, i, value);
    } else if constexpr (laconic::detail::Described<F>) {
        auto const name = laconic::detail::name_of_type<F>();
        arguments inside(a.text(), i.calls[0]);
        if (i.calls.size() > 1 || i.calls[0].name != name)
            a.refuse(i.position, laconic::detail::concat({f.name, " is ", name}));
        read_fields(inside, value);
        inside.finish();
    } else if constexpr (laconic::detail::is_optional<F>) {
        read_value(a, i, f, value.emplace());
    } else if constexpr (std::same_as<F, bool>) {
        if (i.word != "yes" && i.word != "no") a.refuse(i.position, laconic::detail::concat({f.name, " is yes or no"}));
        value = i.word == "yes";
    } else if constexpr (laconic::detail::HasWords<F>) {
        auto const words = words_of(F{});
        auto const w = a.is_word(i) ? std::find(words.begin(), words.end(), i.word) : words.end();
        if (w == words.end())
            a.refuse(i.position, laconic::detail::concat({f.name, " is ", list({words.begin(), words.end()})}));
        value = static_cast<F>(w - words.begin());
    } else if constexpr (std::integral<F>) {
        double const largest = std::min(0x1p53, static_cast<double>(std::numeric_limits<F>::max()));
        value = static_cast<F>(detail::number_in(a, i, f, true, std::max(f.least, 0.0), std::min(f.most, largest)));
    } else {
        value = F(detail::number_in(a, i, f, false, f.least, f.most));
    }
}

/// Takes one field from the arguments of a call; where it is absent, `value` keeps its default. A list takes all that
/// are left. Throws parse_error with the place.
template <class F>
void read_field(arguments& a, laconic::detail::field_facts const& f, F& value) {
    if constexpr (detail::is_list<F>) {
        while (!a.all_taken()) read_fields(a, value.emplace_back());
    } else {
        std::string const name(f.name);
        bool const by_position = !f.named && !std::same_as<F, bool>;
        auto const* const i =
            f.required ? &a.needed(name, by_position, detail::article<F>(name)) : a.find(name, by_position);
        if constexpr (std::is_const_v<F>) {  // the type decides it
            std::remove_const_t<F> read{};
            if (i) read_value(a, *i, f, read);
            if (read != value)
                a.refuse(i ? i->position : a.from().position,
                         laconic::detail::concat({name, " is ", laconic::detail::text_of_field(value), " here"}));
        } else if (i) {
            read_value(a, *i, f, value);
        }
    }
}

/// Takes the fields of v from the arguments of a call; those that are absent stay as they are. Throws parse_error with
/// the place.
template <laconic::detail::Described V>
void read_fields(arguments& a, V& v) {
    laconic::detail::for_each_field(v, [&](auto const& f, auto& value) { read_field(a, f.facts, value); });
}
/// The same for a V by default.
template <laconic::detail::Described V>
V read_fields(arguments& a) {
    V v{};
    read_fields(a, v);
    return v;
}

}  // namespace grammar
}  // namespace laconic
