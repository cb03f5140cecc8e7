// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <charconv>
#include <string>

#include "laconic/core/contract.hpp"

namespace laconic {

/// The shortest decimal number that reads back as x: 0.1, 100, 1e-12.
inline std::string shortest(double x) {
    char text[32];
    auto const r = std::to_chars(text, text + sizeof text, x);
    return {text, r.ptr};
}

}  // namespace laconic
