// SPDX-License-Identifier: Apache-2.0
// A quantizer that writes a message which is known is read from its text, and obeys the laws.
#include "laconic/compress/ternary.hpp"

#include <doctest/doctest.h>

#include "laconic/any/parse.hpp"
#include "laconic/check_compressor.hpp"

TEST_CASE("ternary is known by its name and obeys the laws") {
    CHECK(to_string(laconic::parse_compressor("ternary")) == "ternary");
    CHECK(laconic::check_compressor(laconic::ternary{}).empty());
}
