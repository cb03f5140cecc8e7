// SPDX-License-Identifier: Apache-2.0
// Steps and grids that cannot be are refused.
#include "laconic/wire/stepped.hpp"

#include "support/everything.hpp"

using namespace laconic;
using namespace laconic::messages;
using namespace laconic::wire;

TEST_CASE_TEMPLATE("steps that are negative and grids that are not finite are refused", T, float, double) {
    auto const value_read = [](T least, T step, std::uint64_t code) {
        bit_writer sink;
        put_number(sink, least);
        put_number(sink, step);
        sink.put(code, 2);
        bit_reader source(sink.finish());
        host on;
        stepped<T, host> m{2, 1, {0}, {0}, {0}};
        read(on, source, m);
        source.finish();
        return m.terms()[0].value;
    };
    T const max = std::numeric_limits<T>::max(), inf = std::numeric_limits<T>::infinity();
    CHECK(value_read(-1, T(0.5), 3) == T(0.5));
    CHECK(value_read(-1, 0, 3) == -1);
    CHECK(value_read(-max, max / 2, 2) == 0);
    CHECK(value_read(max, 0, 3) == max);
    CHECK_THROWS_WITH_AS(value_read(1, T(-0.5), 3), doctest::Contains("negative step"), wire_error);
    CHECK_THROWS_WITH_AS(value_read(1, T(-0.0), 3), doctest::Contains("negative step"), wire_error);
    // Refused for its end, though this code is not the last.
    CHECK_THROWS_WITH_AS(value_read(max, max / 4, 0), doctest::Contains("grid that is not finite"), wire_error);
    CHECK_THROWS_WITH_AS(value_read(0, max / 2, 0), doctest::Contains("grid that is not finite"), wire_error);
    CHECK_THROWS_AS(value_read(inf, 0, 0), wire_error);
    CHECK_THROWS_AS(value_read(-inf, 0, 0), wire_error);
    CHECK_THROWS_AS(value_read(0, inf, 0), wire_error);
    CHECK_THROWS_AS(value_read(std::numeric_limits<T>::quiet_NaN(), 0, 0), wire_error);
}
