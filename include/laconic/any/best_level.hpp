// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>

#include "laconic/adapt/message_sizes.hpp"
#include "laconic/any/compressor.hpp"
#include "laconic/any/cost.hpp"
#include "laconic/compress/one_of.hpp"

/// What the texts of best_level and cat say: a family, a cost, and how sizes are counted.
namespace laconic::detail {

/// A family that is written without its level, such as top_k | scaled_sign.
struct level_family {
    std::variant<top_k<>, top_k<scaled_sign>, proportional<identity, true>, damped_quantize, top_blocks<>> c{};
    bool operator==(level_family const&) const = default;
    friend std::string to_string(level_family const& f) {
        return std::visit([](auto const& one) { return levels<std::remove_cvref_t<decltype(one)>>::family(one); }, f.c);
    }
};

/// Reads an argument that is a family (any/registry.hpp). bernoulli means proportional, which has the best
/// probabilities.
inline void read_item(grammar::arguments& a, grammar::item const& i, level_family& f) {
    auto const& calls = i.calls;
    auto const is = [&](std::initializer_list<char const*> names) {
        return std::equal(calls.begin(), calls.end(), names.begin(), names.end(),
                          [](auto const& call, char const* name) { return call.name == name; });
    };
    auto const read = [&]<class V>(std::size_t piece, V value) {
        grammar::arguments of_piece(a.text(), calls[piece]);
        if constexpr (Described<V>) grammar::read_fields(of_piece, value);
        of_piece.finish();
        return value;
    };
    struct no_fields {};
    if (is({"top_k"}))
        read(0, no_fields{}), f.c = top_k<>{1};
    else if (is({"top_k", "scaled_sign"}))
        read(0, no_fields{}), f.c = top_k{1} | read(1, scaled_sign{});
    else if (is({"proportional"}) || is({"bernoulli"}))
        read(0, no_fields{}), f.c = proportional<identity, true>{1};
    else if (is({"quantize"}))
        f.c = read(0, levels<damped_quantize>::family_text{}).c;
    else if (is({"top_blocks"}))
        f.c = read(0, levels<top_blocks<>>::family_text{}).c;
    else
        a.refuse(i.position,
                 {"a level can be chosen for top_k, top_k | scaled_sign, top_blocks(block=...), proportional and "
                  "quantize, which are written without their own"});
}

/// Another family, of which each vector uses the better one: top_k | scaled_sign beside top_k.
struct second_family {
    top_k<scaled_sign> c{};
    bool operator==(second_family const&) const = default;
    friend std::string to_string(second_family const& f) { return levels<top_k<scaled_sign>>::family(f.c); }
};
inline constexpr char const* no_pair = "only top_k goes with another, top_k | scaled_sign; in C++ one_of takes any two";
inline void read_item(grammar::arguments& a, grammar::item const& i, second_family& f) {
    auto const& calls = i.calls;
    if (calls.size() != 2 || calls[0].name != "top_k" || calls[1].name != "scaled_sign")
        a.refuse(i.position, {no_pair});
    level_family read;
    read_item(a, i, read);
    f.c = std::get<top_k<scaled_sign>>(read.c);
}

/// How sizes are counted: as papers do, or as they are written.
enum class counted_sizes { formula, written };
constexpr std::array<std::string_view, 2> words_of(counted_sizes) { return {"formula", "written"}; }

/// The fields that best_level and cat have in common.
struct level_choice {
    level_family compressor{};
    std::optional<second_family> other{};
    two_way_cost cost{};
    counted_sizes sizes = counted_sizes::formula;

    static constexpr void describe_as(auto&& describe, std::string_view name, std::string_view about, auto... more) {
        describe(name, about, described_costs::source, field("compressor", &level_choice::compressor).needed(),
                 field("or", &level_choice::other), field("cost", &level_choice::cost).by_name(),
                 field("sizes", &level_choice::sizes).by_name(), more...);
    }
    message_sizes counted() const { return {sizes == counted_sizes::written}; }
    /// Returns use(C) with the family, or with both.
    auto with(auto use) const {
        if (!other) return std::visit(use, compressor.c);
        if (!std::holds_alternative<top_k<>>(compressor.c)) throw argument_error(no_pair);
        return use(one_of{top_k<>{1}, other->c});
    }
};

/// The text of best_level.
template <class T, class B>
struct best_level_text : level_choice {
    std::size_t sort_up_to = best_level<top_k<>>::sorted_by_default;

    static constexpr void description(auto&& describe) {
        level_choice::describe_as(describe, "best_level", "the level of most progress for the cost; contractive",
                                  field("sort_up_to", &best_level_text::sort_up_to).by_name());
    }
    operator any_compressor<T, B>() const {
        return with([&](auto const& family) -> any_compressor<T, B> {
            best_level chosen{family, cost, counted()};
            chosen.sort_up_to = sort_up_to;
            return chosen;
        });
    }
};

}  // namespace laconic::detail
