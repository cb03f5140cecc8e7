// SPDX-License-Identifier: Apache-2.0
// Means on the wrong side of 0 are refused, and those that are not finite.
#include "laconic/wire/means.hpp"

#include "support/everything.hpp"

using namespace laconic;
using namespace laconic::messages;
using namespace laconic::wire;

TEST_CASE("means on the wrong side of 0 are refused, and those that are not finite") {
    auto const value_read = [](float below, float above, std::uint64_t bit) {
        bit_writer sink;
        put_number(sink, below);
        put_number(sink, above);
        sink.put(bit, 1);
        bit_reader source(sink.finish());
        host on;
        means<float, host> m{1, 1, {0}, {0}, {0}};
        read(on, source, m);
        source.finish();
        return m.terms()[0].value;
    };
    float const inf = std::numeric_limits<float>::infinity();
    CHECK(value_read(2, 3, 0) == 3);
    CHECK(value_read(2, 3, 1) == -2);
    CHECK(value_read(0, 0, 1) == 0);
    for (float const bad : {-1.0f, -0.0f, inf, -inf, std::numeric_limits<float>::quiet_NaN()}) {
        CHECK_THROWS_AS(value_read(bad, 1, 0), wire_error);
        CHECK_THROWS_AS(value_read(1, bad, 0), wire_error);
    }
    CHECK_THROWS_WITH_AS(value_read(-1, 1, 0), doctest::Contains("negative magnitude"), wire_error);
}
