// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "laconic/any/parse.hpp"
#include "support/test.hpp"

/// Checks that parse(text) throws parse_error about this column and with these words, which may be a part of the
/// reason.
template <class Parse>
void refuses(Parse parse, std::string const& text, std::size_t column, std::string const& why, bool all = true) {
    CAPTURE(text);
    try {
        parse(text);
        FAIL_CHECK("was read");
    } catch (laconic::parse_error const& e) {
        CHECK(std::string(e.what()) == "'" + text + "', column " + std::to_string(column) + ": " + e.why);
        CHECK((all ? e.why == why : e.why.find(why) != std::string::npos));
        CHECK(e.text == text);
        CHECK(e.column == column);
    }
}
/// The same of parse_compressor.
inline void refused(std::string const& text, std::size_t column, std::string const& why) {
    refuses(laconic::parse_compressor<double, laconic::host>, text, column, why);
}
