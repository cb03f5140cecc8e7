// SPDX-License-Identifier: Apache-2.0
// Factors have a shape of kind, rows and rank, and are refused where products may overflow.
#include "laconic/wire/factors.hpp"

#include "support/everything.hpp"

using namespace laconic;
using namespace laconic::messages;
using namespace laconic::wire;

namespace {

template <class T>
factors<T, host> read_factors(factors<T, host> blank, std::vector<T> const& encoded) {
    bit_writer sink;
    for (T const v : encoded) put_number(sink, v);
    bit_reader source(sink.finish());
    host on;
    read(on, source, blank);
    source.finish();
    return blank;
}

}  // namespace

TEST_CASE("the left factor, then the right one, all of it values") {
    factors<float, host> const m{6, 2, 1, {1, -2}, {3, 4, 5}};
    factors<float, host> const blank{6, 2, 1, {0, 0}, {0, 0, 0}};
    CHECK(read_factors<float>(blank, {1, -2, 3, 4, 5}) == m);
    CHECK_THROWS_AS(read_factors<float>(blank, {1, -2, 3, 4}), wire_error);
    CHECK_THROWS_AS(read_factors<float>(blank, {1, -2, 3, 4, 5, 6}), wire_error);
}

TEST_CASE("its shape is kind, rows and rank") {
    bit_writer sink;
    write_shape(sink, factors<double, host>{1200, 300, 2, std::vector<double>(600), std::vector<double>(8)});
    auto const encoded = sink.finish();
    std::vector<unsigned> const expected{32, 300 % 128 + 128, 300 / 128, 2};
    REQUIRE(encoded.size() == expected.size());
    for (std::size_t i = 0; i < encoded.size(); ++i) CHECK(std::to_integer<unsigned>(encoded[i]) == expected[i]);
}

TEST_CASE_TEMPLATE("products that may not be finite, and numbers that are no matrix, are refused", T, float, double) {
    factors<T, host> const blank{4, 2, 2, std::vector<T>(4), std::vector<T>(4)};
    T const max = std::numeric_limits<T>::max(), inf = std::numeric_limits<T>::infinity();
    // The largest that may be: every number of the product is rank x 1/4 x max, at most half of the limit.
    auto const m = read_factors<T>(blank, {T(.25), T(.25), T(.25), T(-.25), max, max, max, max});
    CHECK(m.terms()[0].value == max / 2);
    CHECK_THROWS_WITH_AS(read_factors<T>(blank, {T(.5), 0, 0, 0, max, 0, 0, 0}), doctest::Contains("may not be finite"),
                         wire_error);
    CHECK_THROWS_WITH_AS(read_factors<T>(blank, {max, 0, 0, 0, 0, 0, 0, -max}), doctest::Contains("may not be finite"),
                         wire_error);
    CHECK_THROWS_WITH_AS(read_factors<T>(blank, {0, 0, inf, 0, 0, 0, 0, 0}), doctest::Contains("not finite"),
                         wire_error);
    CHECK_THROWS_WITH_AS(read_factors<T>(blank, {0, 0, 0, 0, 0, 0, 0, std::numeric_limits<T>::quiet_NaN()}),
                         doctest::Contains("not finite"), wire_error);
    CHECK_THROWS_WITH_AS(read_factors<T>(factors<T, host>{5, 2, 0, {}, {}}, {}),
                         doctest::Contains("5 numbers are no matrix of 2 rows"), wire_error);
    CHECK_THROWS_AS(read_factors<T>(factors<T, host>{5, 0, 0, {}, {}}, {}), wire_error);
}
