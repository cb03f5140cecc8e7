// SPDX-License-Identifier: Apache-2.0
// A sparsifier that stands in the list is read from its text, also as the first of a pipe, and obeys the laws.
#include "laconic/compress/first_k.hpp"

#include <doctest/doctest.h>

#include "laconic/any/parse.hpp"
#include "laconic/check_compressor.hpp"

TEST_CASE("first_k is known by its name and obeys the laws") {
    auto const c = laconic::parse_compressor("first_k(2) | natural");
    CHECK(to_string(c) == "first_k(2) | natural");
    CHECK(laconic::check_compressor(laconic::first_k{2}).empty());
    std::vector<double> y(4);
    laconic::host on;
    add_message(on, std::span<double>(y), 1.0, laconic::compress(c, std::vector<double>{4, 2, 8, 1}, laconic::key{1}));
    CHECK(y == std::vector<double>{4, 2, 0, 0});
}
