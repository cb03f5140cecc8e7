// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstddef>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

#include "laconic/core/portion.hpp"
#include "laconic/core/text.hpp"

/// One description for each small value such as a collective or a method: its name, its fields, what it does and
/// where it comes from. Its text, what text it is read from, and lists of such values all come from that; the defaults
/// are those of its members.
namespace laconic {

/// A field: its name in texts, and how it is reached, by a pointer to a member or by a function that returns a
/// reference. Numbers have a range.
template <class Member>
struct described_field {
    std::string_view name;
    Member member;
    double least = std::numeric_limits<double>::lowest(), most = std::numeric_limits<double>::max();
    bool always = false;    ///< Its text is written even where it has its default, by position where it can be.
    bool required = false;  ///< It has no default.
    bool labelled = false;  ///< It is written by its name only.
    bool named = false;     ///< It is read and written by its name only.

    constexpr described_field between(double a, double b) const {
        auto f = *this;
        f.least = a;
        f.most = b;
        return f;
    }
    constexpr described_field written() const {
        auto f = *this;
        f.always = true;
        return f;
    }
    constexpr described_field needed() const {
        auto f = written();
        f.required = true;
        return f;
    }
    constexpr described_field written_by_name() const {
        auto f = written();
        f.labelled = true;
        return f;
    }
    constexpr described_field by_name() const {
        auto f = *this;
        f.named = true;
        return f;
    }
    template <class V>
    decltype(auto) of(V& v) const {
        if constexpr (std::is_member_object_pointer_v<Member>)
            return (v.*member);
        else
            return member(v);
    }
};
template <class Member>
constexpr described_field<Member> field(std::string_view name, Member member) {
    return {name, member};
}

namespace detail {
struct any_describer {
    template <class... Field>
    void operator()(std::string_view, std::string_view, std::string_view, Field const&...) const {}
};
}  // namespace detail

/// A value with a static function description(describe), which calls describe(name, about, source, fields...): the name
/// of its type, one line on what it does, its source, and its fields in the order of their positions.
///
///     static constexpr void description(auto&& describe) {
///         describe("top_k_sgd", "g of a mini-batch, C top_k", "Shi et al., ICDCS 2019",
///                  field("k", &top_k_sgd::k).written());
///     }
template <class V>
concept Described = requires(detail::any_describer describe) {
    V::description(describe);
};

/// A value as lists have it.
struct listed_value {
    std::string name{};
    std::string parameters{};  ///< such as "(k=0.01, seed=0)"
    std::string about{}, source{};
};

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

template <class Field, class V, class F>
bool is_default(Field const& f, V const&, F const& value) {
    if constexpr (is_optional<F>)
        if (!value) return true;
    if constexpr (std::default_initializable<V> && std::equality_comparable<F>) {
        V const by_default{};
        return value == f.of(by_default);
    } else {
        return false;
    }
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

}  // namespace detail

/// "name(0.01, seed=3)": the fields that are always written, and of the others those that have not their default.
template <Described V>
std::string to_string(V const& v) {
    std::string text(detail::name_of_type<V>());
    bool first = true, by_position = true;
    detail::for_each_field(v, [&](auto const& f, auto const& value) {
        if (!f.always && detail::is_default(f, v, value)) {
            by_position = false;
            return;
        }
        by_position = by_position && f.always && !f.named && !f.labelled;
        text += first ? "(" : ", ";
        if (!by_position) text += detail::concat(detail::text_pieces{f.name, "="});
        text += detail::text_of_field(value);
        first = false;
    });
    return first ? text : text + ")";
}

/// The value as a list has it: fields with their defaults, "(k=0.01, seed=0)".
template <Described V>
listed_value listed() {
    V const by_default{};
    listed_value l;
    V::description([&](auto name, auto about, auto source, auto const&...) {
        l = {std::string(name), "", std::string(about), std::string(source)};
    });
    detail::for_each_field(by_default, [&](auto const& f, [[maybe_unused]] auto const& value) {
        l.parameters += detail::concat(detail::text_pieces{(l.parameters.empty() ? "(" : ", "), f.name});
        if (!f.required) l.parameters += detail::concat(detail::text_pieces{"=", detail::text_of_field(value)});
    });
    if (!l.parameters.empty()) l.parameters += ")";
    return l;
}

}  // namespace laconic
