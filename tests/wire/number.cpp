// SPDX-License-Identifier: Apache-2.0
#include "laconic/wire/number.hpp"

#include <doctest/doctest.h>

#include <limits>

using namespace laconic;

TEST_CASE_TEMPLATE("numbers in full, of which only finite ones are read", T, float, double) {
    using limits = std::numeric_limits<T>;
    for (T const v : {T(0), T(-0.0), T(1.5), limits::denorm_min(), -limits::max()}) {
        bit_writer sink;
        put_number(sink, v);
        auto const said = sink.finish();
        REQUIRE(said.size() == sizeof(T));
        bit_reader source(said), positive(said);
        T const back = take_number<T>(source);
        CHECK((back == v && std::signbit(back) == std::signbit(v)));
        if (std::signbit(v))
            CHECK_THROWS_WITH_AS(take_magnitude<T>(positive, "width"), doctest::Contains("a negative width"),
                                 wire_error);
        else
            CHECK(take_magnitude<T>(positive, "width") == v);
    }
    for (T const v : {limits::infinity(), -limits::infinity(), limits::quiet_NaN()}) {
        bit_writer sink;
        put_number(sink, v);
        bit_reader source(sink.finish());
        CHECK_THROWS_AS(take_number<T>(source), wire_error);
    }
}
