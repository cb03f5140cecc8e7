// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstddef>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

#include "laconic/core/term.hpp"

/// One description for each small value such as a collective or a method: its name, its fields, what it does and
/// where it comes from. Its text, what text it is read from, and lists of such values all come from that; the defaults
/// are those of its members.
namespace laconic {

namespace detail {

/// What is known of a field: its name in texts, and how it is written and read. Numbers have a range.
struct field_facts {
    std::string_view name;
    double least = std::numeric_limits<double>::lowest(), most = std::numeric_limits<double>::max();
    bool always = false;    ///< Its text is written even where it has its default, by position where it can be.
    bool required = false;  ///< It has no default.
    bool labelled = false;  ///< It is written by its name only.
    bool named = false;     ///< It is read and written by its name only.
};

constexpr double above_0 = std::numeric_limits<double>::min();  ///< the least number in between() of what is above 0
/// A field, with how it is reached: by a pointer to a member, or by a function that returns a reference.
template <class Member>
struct described_field {
    field_facts facts;
    Member member;

    constexpr described_field between(double a, double b) const {
        auto f = *this;
        f.facts.least = a;
        f.facts.most = b;
        return f;
    }
    constexpr described_field written() const { return with(&field_facts::always); }
    constexpr described_field needed() const { return written().with(&field_facts::required); }
    constexpr described_field written_by_name() const { return written().with(&field_facts::labelled); }
    constexpr described_field by_name() const { return with(&field_facts::named); }
    constexpr described_field with(bool field_facts::*what) const {
        auto f = *this;
        f.facts.*what = true;
        return f;
    }
    static constexpr bool is_decided = requires { Member::decided; };
    template <class V>
    decltype(auto) of(V& v) const {
        if constexpr (std::is_member_object_pointer_v<Member>)
            return (v.*member);
        else
            return member(v);
    }
};
/// What the type of a value decides, such as whether it is damped: types that differ in nothing else share a name. A
/// type decides one thing at most. It is written unless it is the first value of its own type: no, or the first word.
template <auto Value>
struct decided_by_type {
    static constexpr auto decided = Value;
    constexpr auto const& operator()(auto const&) const { return decided; }
};
template <auto Value>
constexpr auto decided_field(std::string_view name) {
    return described_field<decided_by_type<Value>>{{name}, {}}.by_name();
}

struct any_describer {
    template <class... Field>
    void operator()(std::string_view, std::string_view, std::string_view, Field const&...) const {}
};

/// A value with a static function description(describe), which calls describe(name, about, source, fields...): the name
/// of its type, one line on what it does, its source, and its fields in the order of their positions.
///
///     static constexpr void description(auto&& describe) {
///         describe("top_k_sgd", "g of a mini-batch, C top_k", "Shi et al., ICDCS 2019",
///                  field("k", &top_k_sgd::k).written());
///     }
template <class V>
concept Described = requires(any_describer describe) {
    V::description(describe);
};

/// The first of a pipe, such as a sparsifier: it has the rest, and v.with(rest) is the same with another.
template <class V>
concept BeginsPipe = requires(V const& v) {
    v.with(v.rest);
};

}  // namespace detail

template <class Member>
constexpr detail::described_field<Member> field(std::string_view name, Member member) {
    return {{name}, member};
}
/// The same of a member's member.
template <class V, class Outer, class Inner>
constexpr auto field(std::string_view name, Outer V::*outer, Inner Outer::*inner) {
    return field(
        name, [ outer, inner ](auto& v) -> auto& { return v.*outer.*inner; });
}

template <detail::Described V>
[[gnu::cold, gnu::noinline]] std::string to_string(V const& v);

namespace detail {

/// The words for the values of an enumeration, which begin at 0: a function words_of(e) beside it returns them.
template <class E>
concept HasWords = std::is_enum_v<E> && requires(E e) {
    words_of(e)[0];
};

template <class F>
inline constexpr bool is_optional = false;
template <class F>
inline constexpr bool is_optional<std::optional<F>> = true;

template <class F>
std::string text_of_field(F const& x) {
    if constexpr (is_optional<F>)
        return x ? text_of_field(*x) : "";
    else if constexpr (std::same_as<F, bool>)
        return x ? "yes" : "no";
    else if constexpr (HasWords<F>)
        return std::string(words_of(x)[static_cast<std::size_t>(x)]);
    else if constexpr (std::is_arithmetic_v<F>)
        return concat(text_pieces{x});
    else
        return to_string(x);
}

template <class V, class F>
void for_each_field(V& v, F f) {
    std::remove_const_t<V>::description([&](auto, auto, auto, auto const&... field) { (f(field, field.of(v)), ...); });
}

template <class V>
std::string_view name_of_type() {
    std::string_view name;
    V::description([&](std::string_view n, auto const&...) { name = n; });
    return name;
}

/// A value as its description has it, without its type, so that what is made of it is compiled once for all. It refers
/// to the value.
struct described_value {
    struct item {
        field_facts facts;
        void const* value;
        std::string (*text)(void const*);
        double number;  ///< 0 where it is none
        bool is_number, is_default, is_decided, is_word = false;
    };
    static constexpr std::size_t most_fields = 12;

    std::string_view name{}, about{}, source{};
    item items[most_fields]{};
    std::size_t count = 0;

    item const* begin() const { return items; }
    item const* end() const { return items + count; }
};

// by_default is nullptr where there is none. What the type decides has the first value of its own type as default.
template <class F>
[[gnu::noinline]] void add_item(described_value& d, field_facts const& f, F const& value, F const* by_default,
                                bool is_decided) {
    auto& i = d.items[d.count++];
    auto const text = [](void const* v) { return text_of_field(*static_cast<F const*>(v)); };
    i = {f, &value, text, 0, false, false, is_decided};
    if constexpr (HasWords<F>)
        i.is_word = true, i.facts.least = 0, i.facts.most = static_cast<double>(words_of(value).size() - 1);
    if constexpr (HasWords<F> || std::is_arithmetic_v<F>) {
        i.number = static_cast<double>(value), i.is_number = true;
        if (is_decided) i.is_default = value == F{};
    }
    if constexpr (is_optional<F>) i.is_default = !value;
    if constexpr (std::equality_comparable<F>)
        if (!is_decided && by_default) i.is_default = i.is_default || value == *by_default;
}

// Whether there is a V{}: asked of the types that V is made of first, as members that are one of these have it as their
// default, and where it has none V{} is an error that cannot be asked for.
template <class V>
inline constexpr bool parts_have_defaults = true;
template <template <class...> class V, class... A>
inline constexpr bool parts_have_defaults<V<A...>> = (std::default_initializable<A> && ...);
template <template <class, auto...> class V, class A, auto... N>
requires(sizeof...(N) > 0) inline constexpr bool parts_have_defaults<V<A, N...>> = std::default_initializable<A>;
template <class V>
concept HasDefaults = parts_have_defaults<V> && std::default_initializable<V>;

template <class V>
described_value fields_of(V const& v) {
    described_value d;
    V::description([&](auto name, auto about, auto source, auto const&... field) {
        static_assert(sizeof...(field) <= described_value::most_fields);
        d.name = name, d.about = about, d.source = source;
        if constexpr (HasDefaults<V>) {
            [[maybe_unused]] static V const by_default{};  // static: g++ 12 -O3 finds a local one uninitialized
            (add_item(d, field.facts, field.of(v), &field.of(by_default), field.is_decided), ...);
        } else {
            (add_item(d, field.facts, field.of(v), decltype(&field.of(v)){nullptr}, field.is_decided), ...);
        }
    });
    return d;
}

// "name(0.01, seed=3)".
[[gnu::cold, gnu::noinline]] inline std::string text_of(described_value const& v) {
    std::string items;
    bool by_position = true;
    for (auto const& i : v) {
        auto const& f = i.facts;
        if (!f.always && i.is_default) {
            by_position = false;
            continue;
        }
        by_position = by_position && f.always && !f.named && !f.labelled;
        items += concat(
            {(items.empty() ? "" : ", "), (by_position ? "" : f.name), (by_position ? "" : "="), i.text(i.value)});
    }
    return items.empty() ? std::string(v.name) : concat({v.name, "(", items, ")"});
}

[[gnu::noinline]] inline void check_fields(described_value const& v) {
    for (auto const& i : v)
        if (auto const& f = i.facts; i.is_number && !(i.number >= f.least && i.number <= f.most))
            throw argument_error(
                i.is_word ? concat({v.name, ": ", f.name, " is none of its values"})
                : !(i.number >= f.least) && f.least == above_0
                    ? concat({v.name, ": ", f.name, " = ", i.number, " is not above 0"})
                : f.most < std::numeric_limits<double>::max()
                    ? concat({v.name, ": ", f.name, " = ", i.number, " is outside ", f.least, " .. ", f.most})
                    : concat({v.name, ": ", f.name, " = ", i.number, " is no finite number of at least ", f.least}));
}
/// Throws argument_error where a number is outside the range of its field, or an enumeration has no such value.
void check_fields(auto const& v) { check_fields(fields_of(v)); }

}  // namespace detail

/// "name(0.01, seed=3)": the fields that are always written, and of the others those that have not their default; and
/// after " | " the rest of the pipe that it begins, unless it has none: the value "identity" of an empty type.
template <detail::Described V>
std::string to_string(V const& v) {
    auto text = detail::text_of(detail::fields_of(v));
    if constexpr (detail::BeginsPipe<V>)
        if (auto const rest = to_string(v.rest); rest != "identity" || !std::is_empty_v<decltype(v.rest)>)
            text += " | " + rest;
    return text;
}

}  // namespace laconic
