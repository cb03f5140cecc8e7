// SPDX-License-Identifier: Apache-2.0
// Norms and levels that no compressor writes are refused.
#include "laconic/wire/dithered.hpp"

#include "support/everything.hpp"

using namespace laconic;
using namespace laconic::messages;
using namespace laconic::wire;

TEST_CASE("norms that are negative or not finite and levels outside the grid are refused") {
    auto const value_read = [](float norm, std::uint64_t word) {
        bit_writer sink;
        put_number(sink, norm);
        sink.put(word, 3);
        bit_reader source(sink.finish());
        host on;
        dithered<float, host> m{3, 1, {0}, {0}};
        read(on, source, m);
        source.finish();
        return m.terms()[0].value;
    };
    CHECK(value_read(8, 0) == -8);
    CHECK(value_read(8, 3) == 0);
    CHECK(value_read(8, 4) == 2);
    CHECK(value_read(std::numeric_limits<float>::max(), 6) == std::numeric_limits<float>::max());
    CHECK_THROWS_WITH_AS(value_read(8, 7), doctest::Contains("outside the grid"), wire_error);
    CHECK_THROWS_WITH_AS(value_read(-8, 3), doctest::Contains("negative norm"), wire_error);
    CHECK_THROWS_WITH_AS(value_read(-0.0f, 3), doctest::Contains("negative norm"), wire_error);
    CHECK_THROWS_AS(value_read(std::numeric_limits<float>::infinity(), 3), wire_error);
    CHECK_THROWS_AS(value_read(std::numeric_limits<float>::quiet_NaN(), 3), wire_error);
}
