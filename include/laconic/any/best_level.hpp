// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "laconic/adapt/message_sizes.hpp"
#include "laconic/any/compressor.hpp"
#include "laconic/any/cost.hpp"
#include "laconic/any/fields.hpp"
#include "laconic/any/grammar.hpp"
#include "laconic/compress/best_level.hpp"
#include "laconic/compress/one_of.hpp"
#include "laconic/compress/quantizer_levels.hpp"
#include "laconic/core/text.hpp"

namespace laconic::detail {

/// Reads the argument cost=...; the default is bits.
inline two_way_cost cost_argument(grammar::arguments& a) {
    auto const* const price = a.find("cost", false);
    return price ? make_cost(a.text(), price->calls) : two_way_cost{};
}

/// Calls f(C) with the family that is written without its level, such as top_k | scaled_sign. bernoulli means
/// proportional, which has the best probabilities.
template <class F>
auto with_family_of(grammar::arguments& a, grammar::item const& family, F f) {
    auto const& calls = family.calls;
    grammar::arguments first(a.text(), calls[0]), second(a.text(), calls.back());
    if (calls[0].name == "top_k" && calls.size() == 1) {
        first.finish();
        return f(top_k<>{1});
    }
    if (calls[0].name == "top_k" && calls.size() == 2 && calls[1].name == "scaled_sign") {
        first.finish();
        auto const signs = grammar::read_fields<scaled_sign>(second);
        second.finish();
        return f(top_k<scaled_sign>{1, signs});
    }
    if ((calls[0].name == "proportional" || calls[0].name == "bernoulli") && calls.size() == 1) {
        first.finish();
        return f(proportional<identity, true>{1});
    }
    if (calls[0].name == "quantize" && calls.size() == 1) {
        auto const chosen = grammar::read_fields<levels<damped_quantize>::family_text>(first);
        first.finish();
        return f(chosen.c);
    }
    if (calls[0].name == "top_blocks" && calls.size() == 1) {
        auto const chosen = grammar::read_fields<levels<top_blocks<>>::family_text>(first);
        first.finish();
        return f(chosen.c);
    }
    a.refuse(family.position,
             "a level can be chosen for top_k, top_k | scaled_sign, top_blocks(block=...), proportional and quantize, "
             "which are written without their own");
}

/// Calls f(C) with one family, or with top_k and top_k | scaled_sign, of which each round uses the better one.
template <class F>
auto with_families_of(grammar::arguments& a, grammar::item const& family, F f) {
    auto const* const other = a.find("or");
    if (!other) return with_family_of(a, family, f);
    auto const& one = family.calls;
    auto const& two = other->calls;
    if (one.size() != 1 || one[0].name != "top_k" || two.size() != 2 || two[0].name != "top_k" ||
        two[1].name != "scaled_sign")
        a.refuse(other->position, "only top_k goes with another, top_k | scaled_sign; in C++ one_of takes any two");
    for (auto const* const call : {&one[0], &two[0]}) grammar::arguments(a.text(), *call).finish();
    grammar::arguments signs(a.text(), two[1]);
    auto const scaled = grammar::read_fields<scaled_sign>(signs);
    signs.finish();
    return f(one_of{top_k<>{1}, top_k<scaled_sign>{1, scaled}});
}

/// Reads the argument sizes=formula or sizes=written; the default is formula, the sizes that papers count.
inline message_sizes sizes_argument(grammar::arguments& a) {
    auto const* const i = a.find("sizes", false);
    if (i && i->word != "formula" && i->word != "written") a.refuse(i->position, "sizes is formula or written");
    return {i && i->word == "written"};
}

inline std::string best_level_parameters() {
    return concat({"(C or C, C, cost=", to_string(two_way_cost{}), ", sizes=", to_string(message_sizes{false}),
                   ", sort_up_to=", best_level<top_k<>>::sorted_by_default, ")"});
}
template <Scalar T, class B>
any_compressor<T, B> make_best_level(grammar::arguments& a) {
    return with_families_of(a, a.needed("compressor", true, "a "), [&](auto const& family) -> any_compressor<T, B> {
        auto const cost = cost_argument(a);
        best_level chosen{family, cost, sizes_argument(a)};
        chosen.sort_up_to = a.whole("sort_up_to", chosen.sort_up_to, 0, 0x1p53, false);
        return chosen;
    });
}

}  // namespace laconic::detail
