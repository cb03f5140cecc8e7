// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "laconic/compress/best_level.hpp"
#include "laconic/wire/message.hpp"

namespace laconic {

/// The bits of messages, for best_level: those that are written, with positions in the encoding that
/// position_code::smallest takes, the level and the padding to whole bytes; or, with written = false, those that papers
/// count. Each level that best_level evaluates costs a compression.
struct message_sizes {
    bool written = true;

    double operator()(auto formula, auto compress) const {
        return written ? static_cast<double>(wire::bits(compress())) : formula();
    }
    bool are_dear() const { return written; }

    bool operator==(message_sizes const&) const = default;
    friend std::string to_string(message_sizes s) { return s.written ? "written" : "formula"; }
};

}  // namespace laconic
