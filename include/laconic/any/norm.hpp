// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "laconic/any/grammar.hpp"
#include "laconic/compress/norm.hpp"

namespace laconic::detail {

/// Reads the argument p=1, 2 or inf, with the default 2; throws parse_error for another.
inline p_norm norm_named(grammar::arguments& a) {
    auto const* const p = a.find("p", false);
    if (p && (p->calls.size() != 1 || !p->calls[0].items.empty())) a.refuse(p->position, "p is 1, 2 or inf");
    if (!p || p->word == "2") return p_norm::two;
    if (p->word == "1") return p_norm::one;
    if (p->word == "inf") return p_norm::largest;
    a.refuse(p->position, "p is 1, 2 or inf");
}

}  // namespace laconic::detail
