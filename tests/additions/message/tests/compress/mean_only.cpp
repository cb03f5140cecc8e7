// SPDX-License-Identifier: Apache-2.0
// A quantizer with a message of its own is read from its text, obeys the laws and is read from a file.
#include "laconic/compress/mean_only.hpp"

#include <doctest/doctest.h>

#include "laconic/any/parse.hpp"
#include "laconic/check_compressor.hpp"
#include "laconic/wire/described.hpp"

TEST_CASE("mean_only is known by its name, obeys the laws and is read without its composition") {
    CHECK(laconic::check_compressor(laconic::mean_only{}).empty());
    auto const m =
        laconic::compress(laconic::parse_compressor("mean_only"), std::vector<double>{1, 2, 6}, laconic::key{1});
    std::vector<double> y(3);
    laconic::host on;
    add_message(on, std::span<double>(y), 1.0, m);
    CHECK(y == std::vector<double>{3, 3, 3});
    auto const read = laconic::read_described(laconic::write_described(m));
    CHECK(read.dimension == 3);
}
