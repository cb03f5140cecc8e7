// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "laconic/any/parse.hpp"
#include "support/test.hpp"

/// Checks that parse(text) throws parse_error about this column and with these words.
template <class Parse>
void refuses(Parse parse, std::string const& text, std::size_t column, std::string const& why) {
    CAPTURE(text);
    try {
        auto const read = parse(text);
        FAIL_CHECK("was read as " << to_string(read));
    } catch (laconic::parse_error const& e) {
        CHECK(std::string(e.what()) == "'" + text + "', column " + std::to_string(column) + ": " + why);
        CHECK(e.column == column);
    }
}
/// The same of parse_compressor.
inline void refused(std::string const& text, std::size_t column, std::string const& why) {
    refuses([](auto const& of) { return laconic::parse_compressor(of); }, text, column, why);
}
