// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "laconic/any/parse.hpp"
#include "support/test.hpp"

/// Checks that parse_compressor refuses a text, about this column and with these words.
inline void refused(std::string const& text, std::size_t column, std::string const& why) {
    CAPTURE(text);
    try {
        auto const c = laconic::parse_compressor(text);
        FAIL_CHECK("was read as " << to_string(c));
    } catch (laconic::parse_error const& e) {
        CHECK(std::string(e.what()) == "'" + text + "', column " + std::to_string(column) + ": " + why);
        CHECK(e.column == column);
    }
}
