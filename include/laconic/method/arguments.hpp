// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "laconic/any/grammar.hpp"
#include "laconic/method/overrides.hpp"

namespace laconic {

/// Reads an argument that is a step (any/fields.hpp): step=0.1 or step=0.5/L.
inline void read_item(grammar::arguments& a, grammar::item const& i, step_size& s) {
    std::string_view word = i.word;
    s.over_smoothness = word.ends_with("/L");
    if (s.over_smoothness) word.remove_suffix(2);
    if (!grammar::read_number(word, s.value) || !(s.value > 0))
        a.refuse(i.position, "step is a number above 0, such as 0.1, or 0.5/L for half of 1 over the smoothness");
}

}  // namespace laconic
