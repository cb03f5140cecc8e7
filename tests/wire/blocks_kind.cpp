// SPDX-License-Identifier: Apache-2.0
// Block floats on the wire: scales of eight bits or in full, then codes; scales that no compressor writes are refused.
#include "laconic/wire/blocks_kind.hpp"

#include "support/bits.hpp"
#include "support/everything.hpp"

using by_hand::number;

TEST_CASE_TEMPLATE("scales of eight bits or in full, then codes", T, float, double) {
    using m = block_floats<T, host>;
    auto const value = [](m const& blank, std::vector<by_hand::word> const& words) {
        auto const read = by_hand::read_into(blank, words);
        return read.terms()[0].value;
    };
    m const mxfp4{block_format::mxfp4, 32, 1, {0}, {0}}, nvfp4{block_format::nvfp4, 16, 1, {0}, {0}},
        int8{block_format::int8, 1, 1, {0}, {0}}, e5m2{block_format::mxfp8_e5m2, 32, 1, {0}, {0}};
    CHECK(value(mxfp4, {{128, 8}, {15, 4}}) == -12);
    CHECK(value(mxfp4, {{0, 8}, {2, 4}}) == std::ldexp(T(1), -127));
    CHECK(value(nvfp4, {number(T(0.5)), {0x40, 8}, {7, 4}}) == 6);
    CHECK(value(int8, {number(T(32)), {0xff, 8}}) == -127);
    CHECK(value(int8, {number(T(0)), {0x7f, 8}}) == 0);
    CHECK_THROWS_WITH_AS(value(mxfp4, {{255, 8}, {15, 4}}), doctest::Contains("scale"), wire_error);
    CHECK_THROWS_AS(value(nvfp4, {number(T(1)), {7, 8}, {7, 4}}), wire_error);
    CHECK_THROWS_AS(value(nvfp4, {number(T(1)), {0x7f, 8}, {7, 4}}), wire_error);
    CHECK_THROWS_AS(value(nvfp4, {number(T(1)), {0xb8, 8}, {7, 4}}), wire_error);
    CHECK_THROWS_WITH_AS(value(nvfp4, {number(T(-1)), {0x38, 8}, {7, 4}}), doctest::Contains("negative"), wire_error);
    CHECK_THROWS_AS(value(nvfp4, {number(std::numeric_limits<T>::max()), {0x38, 8}, {0, 4}}), wire_error);
    CHECK_THROWS_AS(value(int8, {number(std::numeric_limits<T>::max()), {0, 8}}), wire_error);
    CHECK_THROWS_AS(value(int8, {number(std::numeric_limits<T>::quiet_NaN()), {0, 8}}), wire_error);
    CHECK_THROWS_WITH_AS(value(e5m2, {{127, 8}, {0x7c, 8}}), doctest::Contains("not finite"), wire_error);
    if (sizeof(T) == 4) CHECK_THROWS_AS(value(mxfp4, {{254, 8}, {0, 4}}), wire_error);  // 6 x 2^127
}
