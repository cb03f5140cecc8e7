// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "laconic/core/contract.hpp"

namespace laconic {

/// The bits of messages, for best_level: this counts them as papers do. Any other type is a comparable value with
///   sizes(formula, message)  the bits of a message: of formula(), by levels<C>::bits, or of message(), the message
///                            itself, which costs a compression;
///   sizes.are_dear()         whether it calls message(), so that best_level evaluates few levels;
///   to_string(sizes)         its name.
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
