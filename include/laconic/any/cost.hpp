// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "laconic/any/grammar.hpp"
#include "laconic/core/cost.hpp"
#include "laconic/core/text.hpp"

namespace laconic {

namespace detail {

inline message_cost make_message_cost(std::string_view text, grammar::pipe const& calls);

// The cost of one way that a call names, such as packets(512, 64, 60); other(a) for any other name.
template <class Cost, class Other>
Cost cost_named(std::string_view text, grammar::pipe const& calls, Other other) {
    grammar::arguments a(text, calls[0]);
    auto const cost = [&]() -> Cost {
        auto const& name = calls[0].name;
        // Argument by argument, as C++ does not fix the order of evaluation.
        auto const with = [&](auto const& names, auto make) {
            std::vector<double> v;
            for (char const* const n : names) v.push_back(a.number(n));
            return make(v);
        };
        using list = std::vector<char const*>;
        if (name == "bits") return message_cost{};
        if (name == "affine")
            return with(list{"per_bit", "per_message"}, [](auto& v) { return affine_cost(v[0], v[1]); });
        if (name == "packets")
            return with(list{"payload", "header", "fixed"}, [](auto& v) { return packet_cost(v[0], v[1], v[2]); });
        if (name == "energy")
            return with(list{"per_bit", "per_packet", "payload", "to_wake"},
                        [](auto& v) { return energy_cost(v[0], v[1], v[2], v[3]); });
        if (name == "air_time")
            return with(list{"rate", "preamble", "payload", "wait"},
                        [](auto& v) { return air_time_cost(v[0], v[1], v[2], v[3]); });
        if (name == "lossy") {
            auto const* const once = a.find("once");
            if (!once) a.refuse(calls[0].position, "lossy needs once: lossy(once=..., loss=...)");
            auto const price = make_message_cost(text, once->calls);
            return lossy_cost(price, a.number("loss"));
        }
        return other(a);
    };
    auto const result = [&] {
        try {
            return cost();
        } catch (argument_error const& e) {
            a.refuse(calls[0].position, e.what());
        }
    }();
    a.finish();
    if (calls.size() > 1) a.refuse(calls[1].position, "a cost cannot be part of a pipe");
    return result;
}

// The same, where no other name is valid.
inline message_cost make_message_cost(std::string_view text, grammar::pipe const& calls) {
    return cost_named<message_cost>(text, calls, [&](grammar::arguments const& a) -> message_cost {
        a.refuse(calls[0].position, grammar::no_such("cost of one way", calls[0].name,
                                                     {"bits", "affine", "packets", "energy", "air_time", "lossy"}));
    });
}

// The cost that a call names, of one way or two.
inline two_way_cost make_cost(std::string_view text, grammar::pipe const& calls) {
    return cost_named<two_way_cost>(text, calls, [&](grammar::arguments& a) -> two_way_cost {
        if (calls[0].name != "two_way")
            a.refuse(calls[0].position,
                     grammar::no_such("cost", calls[0].name,
                                      {"bits", "affine", "packets", "energy", "air_time", "lossy", "two_way"}));
        auto const way = [&](std::string const& name) {
            auto const* const i = a.find(name);
            if (!i) a.refuse(calls[0].position, concat({"two_way needs ", name, ": two_way(", name, "=...)"}));
            return make_message_cost(text, i->calls);
        };
        auto const up = way("up"), down = way("down");
        double const answer = a.number("answer", 0.0), others = a.number("others", 0.0);
        return {up, down, answer, others};
    });
}

}  // namespace detail

/// Reads the text of a cost: bits, affine(per_bit, per_message), packets(payload, header, fixed), energy(per_bit,
/// per_packet, payload, to_wake) or air_time(rate, preamble, payload, wait), any of them on a lossy link, lossy(once,
/// loss), or one for each way, two_way(up, down, answer=0, others=0), with or without the argument names. Throws
/// parse_error with the place.
inline two_way_cost parse_cost(std::string_view text) { return detail::make_cost(text, grammar::read_pipe(text)); }

}  // namespace laconic
