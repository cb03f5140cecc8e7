// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "laconic/core/contract.hpp"

namespace laconic {

/// What messages take, for best_level: as papers count. Any other is a comparable value with
///   sizes(formula, said)   the bits of a message: formula() by levels<C>::bits, or of said(), the message itself,
///                          which takes a compression;
///   sizes.are_dear()       whether it asks for that, so that not all levels are looked at;
///   to_string(sizes)       its name.
struct formula_sizes {
    template <class Formula, class Said>
    double operator()(Formula formula, Said) const {
        return formula();
    }
    static constexpr bool are_dear() { return false; }

    bool operator==(formula_sizes const&) const = default;
    friend std::string to_string(formula_sizes) { return "formula"; }
};

}  // namespace laconic
