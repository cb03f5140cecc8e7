// SPDX-License-Identifier: Apache-2.0
// Numbers are written in full, at any bit, and only finite ones, and magnitudes from 0 on, are read.
#include "laconic/wire/number.hpp"

#include "support/bits.hpp"
#include "support/everything.hpp"

TEST_CASE_TEMPLATE("numbers in full, of which only finite ones are read", T, float, double) {
    using limits = std::numeric_limits<T>;
    for (T const v : {T(0), T(-0.0), T(1.5), limits::denorm_min(), -limits::max()}) {
        bit_writer sink;
        put_number(sink, v);
        auto const encoded = sink.finish();
        REQUIRE(encoded.size() == sizeof(T));
        bit_reader source(encoded), positive(encoded);
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

TEST_CASE_TEMPLATE("many numbers are the same bits as one after another, and finite", T, float, double) {
    std::vector<T> const x{T(1), T(-0.0), std::numeric_limits<T>::max(), std::numeric_limits<T>::denorm_min(), T(-7)};
    for (unsigned const before : {0u, 5u}) {
        bit_writer at_once, one_by_one;
        at_once.put(0, before);
        one_by_one.put(0, before);
        put_numbers(at_once, x);
        for (T const v : x) put_number(one_by_one, v);
        auto const encoded = by_hand::bytes_of(at_once);
        CHECK(encoded == by_hand::bytes_of(one_by_one));
        std::vector<T> read(x.size());
        bit_reader source(encoded), longer(encoded);
        source.take(before);
        take_numbers(source, read);
        CHECK(read == x);
        CHECK(std::signbit(read[1]));
        read.resize(x.size() + 1);
        CHECK_THROWS_AS(take_numbers(longer, read), wire_error);
        for (T const bad : {std::numeric_limits<T>::infinity(), -std::numeric_limits<T>::infinity(),
                            std::numeric_limits<T>::quiet_NaN()}) {
            std::vector<T> y = x;
            y[3] = bad;
            bit_writer sink;
            put_numbers(sink, y);
            bit_reader refused(sink.finish());
            CHECK_THROWS_AS(take_numbers(refused, y), wire_error);
        }
    }
}
