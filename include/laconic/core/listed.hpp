// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "laconic/core/description.hpp"

namespace laconic {

/// A value as lists have it.
struct listed_value {
    std::string name{};
    std::string parameters{};  ///< such as "(k=0.01, seed=0)"
    std::string about{}, source{};
    struct field {
        std::string_view name;
        std::string values;  ///< such as "0 to 1" or "yes or no"; empty where no rule of the field's type says it
    };
    std::vector<field> fields{};  ///< filled in by the lists that are read from texts (any/registry.hpp)
};

namespace detail {

[[gnu::cold, gnu::noinline]] inline listed_value as_listed(described_value const& v) {
    listed_value l{std::string(v.name), "", std::string(v.about), std::string(v.source), {}};
    for (auto const& i : v) {
        l.parameters += concat({(l.parameters.empty() ? "(" : ", "), i.facts.name});
        if (!i.facts.required) l.parameters += concat({"=", i.text(i.value)});
    }
    if (!l.parameters.empty()) l.parameters += ")";
    return l;
}

/// The value as a list has it: fields with their defaults, "(k=0.01, seed=0)".
template <Described V>
listed_value listed() {
    V const by_default{};
    return as_listed(fields_of(by_default));
}

}  // namespace detail

}  // namespace laconic
