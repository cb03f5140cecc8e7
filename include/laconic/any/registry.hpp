// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "laconic/any/grammar.hpp"
#include "laconic/core/listed.hpp"
#include "laconic/core/types.hpp"

/// Values read from texts by their descriptions (core/description.hpp): from the list of the values of one kind, and
/// with their fields.
namespace laconic {

/// The types whose values a text may name where a V is wanted, such as any_compressor<T>. Specialised beside V's
/// parser, with
///     kind    what such a value is, with its article: "a compressor";
///     types   a type_list of described types, whose values convert to V. Types that share a name stand together; of
///             these the first is taken that the arguments fit.
/// With listed_in_place, what may be written for a field of type V is listed with the field, as there is no list of V.
template <class V>
struct registry;

namespace grammar {

/// A value that a text names, such as a compressor.
template <class V>
concept Registered = requires {
    registry<V>::kind;
};
template <class V>
V make(std::string_view text, pipe const& calls);

// read_item(a, i, value) beside a type reads an argument of that type.
template <class F>
concept ReadFromItem = requires(arguments& a, item const& i, F& value) {
    read_item(a, i, value);
};

// A list of described values, whose fields follow one another.
template <class F>
constexpr bool is_list = false;
template <detail::Described E>
constexpr bool is_list<std::vector<E>> = true;

// What stands before the name of what is needed: "a compressor", where that is what it is, but "k" and "once".
template <class F>
char const* article(std::string_view name) {
    if constexpr (Registered<F>) return std::string_view(registry<F>::kind).ends_with(name) ? "a " : "";
    return std::is_arithmetic_v<F> || std::same_as<F, laconic::portion> ? "" : "a ";
}

// The value of a number, from least to most; `most` is the largest double where there is no end.
inline double number_in(arguments const& a, item const& i, detail::field_facts const& f, bool whole, double least,
                        double most) {
    double value = 0;
    bool const is = a.is_word(i) && read_number(i.word, value);
    bool const in_range = value >= least && value <= most;
    auto const refuse = [&](detail::text_pieces why) { a.refuse(i.position, why); };
    if (whole && !(is && in_range && value == std::floor(value)))
        refuse({f.name, " is a whole number from ", least, " to ", most});
    if (!is) refuse({f.name, " is a number"});
    if (!in_range && least == detail::above_0)
        refuse({f.name, " is above 0", (most < 1e300 ? detail::concat({", up to ", most}) : "")});
    if (!in_range && most < std::numeric_limits<double>::max()) refuse({f.name, " is from ", least, " to ", most});
    if (!in_range) refuse({f.name, " is at least ", least});
    return value;
}

template <detail::Described V>
void read_fields(arguments& a, V& v);

/// Reads an argument as the value of a field. Throws parse_error with the place.
template <class F>
void read_value(arguments& a, item const& i, detail::field_facts const& f, F& value) {
    if constexpr (Registered<F>) {
        value = make<F>(a.text(), i.calls);
    } else if constexpr (ReadFromItem<F>) {
        read_item(a, i, value);
    } else if constexpr (detail::Described<F>) {
        auto const name = detail::name_of_type<F>();
        arguments inside(a.text(), i.calls[0]);
        if (i.calls.size() > 1 || i.calls[0].name != name) a.refuse(i.position, {f.name, " is ", name});
        read_fields(inside, value);
        inside.finish();
    } else if constexpr (detail::is_optional<F>) {
        read_value(a, i, f, value.emplace());
    } else if constexpr (std::same_as<F, bool>) {
        if (i.word != "yes" && i.word != "no") a.refuse(i.position, {f.name, " is yes or no"});
        value = i.word == "yes";
    } else if constexpr (detail::HasWords<F>) {
        auto const words = words_of(F{});
        auto const w = a.is_word(i) ? std::find(words.begin(), words.end(), i.word) : words.end();
        if (w == words.end()) a.refuse(i.position, {f.name, " is ", list({words.begin(), words.end()})});
        value = static_cast<F>(w - words.begin());
    } else if constexpr (std::integral<F>) {
        double const largest = std::min(0x1p53, static_cast<double>(std::numeric_limits<F>::max()));
        value = static_cast<F>(number_in(a, i, f, true, std::max(f.least, 0.0), std::min(f.most, largest)));
    } else {
        value = F(number_in(a, i, f, false, f.least, f.most));
    }
}

/// What read_value takes for a field, in words: "0 to 1", "yes or no", "a compressor".
template <class F>
std::string values_of(detail::field_facts const& f) {
    constexpr double infinite = 1e300;  // from here on a bound is none
    if constexpr (requires { registry<F>::listed_in_place; }) {
        return []<class... X>(detail::type_list<X...>) {
            auto const form = [](listed_value const& l) { return l.name + l.parameters; };
            return list({form(detail::listed<X>())...});
        }(typename registry<F>::types{});
    } else if constexpr (Registered<F>) {
        return registry<F>::kind;
    } else if constexpr (ReadFromItem<F>) {
        return "";
    } else if constexpr (detail::Described<F>) {
        return std::string(detail::name_of_type<F>());
    } else if constexpr (detail::is_optional<F>) {
        return values_of<typename F::value_type>(f);
    } else if constexpr (std::same_as<F, bool>) {
        return "yes or no";
    } else if constexpr (detail::HasWords<F>) {
        auto const words = words_of(F{});
        return list({words.begin(), words.end()});
    } else if constexpr (std::same_as<F, laconic::portion>) {
        return "a count, or a fraction below 1";
    } else if constexpr (std::is_arithmetic_v<F>) {
        double const least = std::integral<F> ? std::max(f.least, 0.0) : f.least;
        std::string const whole = std::integral<F> ? "whole, " : "";
        if (f.most < infinite && least == detail::above_0) return detail::concat({"above 0, up to ", f.most});
        if (f.most < infinite) return detail::concat({whole, least, " to ", f.most});
        if (least <= -infinite) return "a number";
        return least > 0 && least < 1e-100 ? whole + "above 0" : detail::concat({whole, "at least ", least});
    } else {
        return "";
    }
}

/// Takes one field from the arguments of a call; where it is absent, `value` keeps its default. A list takes all that
/// are left. Throws parse_error with the place.
template <class F>
void read_field(arguments& a, detail::field_facts const& f, F& value) {
    if constexpr (is_list<F>) {
        while (!a.all_taken()) read_fields(a, value.emplace_back());
    } else {
        std::string const name(f.name);
        bool const by_position = !f.named && !std::same_as<F, bool>;
        auto const* const i = f.required ? &a.needed(name, by_position, article<F>(name)) : a.find(name, by_position);
        if constexpr (std::is_const_v<F>) {  // the type decides it
            std::remove_const_t<F> read{};
            if (i) read_value(a, *i, f, read);
            if (read != value)
                a.refuse(i ? i->position : a.from().position, {name, " is ", detail::text_of_field(value), " here"});
        } else if (i) {
            read_value(a, *i, f, value);
        }
    }
}

/// Takes the fields of v from the arguments of a call; those that are absent stay as they are. Throws parse_error with
/// the place.
template <detail::Described V>
void read_fields(arguments& a, V& v) {
    detail::for_each_field(v, [&](auto const& f, auto& value) { read_field(a, f.facts, value); });
}
/// The same for a V by default.
template <detail::Described V>
V read_fields(arguments& a) {
    V v{};
    read_fields(a, v);
    return v;
}

template <class V>
struct entry {
    listed_value about;
    bool begins_pipe;
    /// Takes the arguments of a call, and what follows it in its pipe where it begins one.
    V (*make)(arguments&, V const* rest);
};
template <class V, detail::Described X>
entry<V> entry_of() {
    return {detail::listed<X>(), detail::BeginsPipe<X>, [](arguments& a, V const* rest) {
                auto const x = read_fields<X>(a);
                if constexpr (detail::BeginsPipe<X>)
                    if (rest) return V(x.with(*rest));
                return V(x);
            }};
}
template <class V>
std::vector<entry<V>> const& entries() {
    static auto const all = []<class... X>(detail::type_list<X...>) {
        return std::vector{entry_of<V, X>()...};
    }(typename registry<V>::types{});
    return all;
}

template <detail::Described X>
listed_value about_of() {
    auto about = detail::listed<X>();
    X const by_default{};
    detail::for_each_field(by_default, [&]<class F>(auto const& field, F const&) {
        about.fields.push_back({field.facts.name, values_of<F>(field.facts)});
    });
    return about;
}
/// What a list has of each.
template <class V>
std::vector<listed_value> abouts() {
    return []<class... X>(detail::type_list<X...>) {
        return std::vector{about_of<X>()...};
    }(typename registry<V>::types{});
}

/// The error for a name that no entry has.
template <class V>
[[noreturn]] void refuse_name(arguments const& a) {
    std::string const kind = registry<V>::kind;
    std::vector<std::string> names;
    for (auto const& e : entries<V>())
        if (names.empty() || names.back() != e.about.name) names.push_back(e.about.name);
    a.refuse(a.from().position, {no_such(kind.substr(kind.find(' ') + 1), a.from().name, names)});
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
                wrong = parse_error(error.text, error.column, detail::concat({wrong->why, ", or ", error.why}));
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
        if (!has_pipes) a.refuse(calls[1].position, {registry<V>::kind, " cannot be part of a pipe"});
        if (!e->begins_pipe)
            a.refuse(calls[at + 1].position,
                     {"'", e->about.name, "' is a quantizer, which leaves nothing to what follows it"});
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
