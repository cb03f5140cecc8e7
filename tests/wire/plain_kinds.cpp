// SPDX-License-Identifier: Apache-2.0
// Exactly the codes that are not finite are refused, and factors where products may overflow.
#include "laconic/wire/plain_kinds.hpp"

#include "support/bits.hpp"
#include "support/everything.hpp"

// How many of all codes a reader takes, and gives back.
template <kernels::short_format F>
int accepted() {
    int n = 0;
    short_floats<F, double, host> const blank{{0}};
    unsigned const width = blank.code_width;
    for (std::uint64_t code = 0; code >> width == 0; ++code) {
        try {
            n += by_hand::read_into(blank, {{code, width}}).codes[0] == code;
        } catch (wire_error const&) {
        }
    }
    return n;
}

template <class T>
factors<T, host> read_factors(factors<T, host> const& blank, std::vector<T> const& encoded) {
    std::vector<by_hand::word> words;
    for (T const v : encoded) words.push_back(by_hand::number(v));
    return by_hand::read_into(blank, words);
}

// The last exponent of each sign, or one code of each, is no number.
TEST_CASE("short floats: codes that are not finite are refused, and no others") {
    CHECK(accepted<kernels::short_format::binary16>() == 65536 - 2 * 1024);
    CHECK(accepted<kernels::short_format::bfloat>() == 65536 - 2 * 128);
    CHECK(accepted<kernels::short_format::e4m3>() == 254);
    CHECK(accepted<kernels::short_format::e5m2>() == 248);
}

TEST_CASE("factors: the left one, then the right one, all of it values; their shape is kind, rows and rank") {
    factors<float, host> const m{6, 2, 1, {1, -2}, {3, 4, 5}};
    factors<float, host> const blank{6, 2, 1, {0, 0}, {0, 0, 0}};
    CHECK(read_factors<float>(blank, {1, -2, 3, 4, 5}) == m);
    CHECK_THROWS_AS(read_factors<float>(blank, {1, -2, 3, 4}), wire_error);
    CHECK_THROWS_AS(read_factors<float>(blank, {1, -2, 3, 4, 5, 6}), wire_error);
    CHECK(by_hand::shape_of(factors<double, host>{1200, 300, 2, std::vector<double>(600), std::vector<double>(8)}) ==
          by_hand::bytes_of_values({32, 300 % 128 + 128, 300 / 128, 2}));
}

TEST_CASE_TEMPLATE("products that may not be finite, and numbers that are no matrix, are refused", T, float, double) {
    factors<T, host> const blank{4, 2, 2, std::vector<T>(4), std::vector<T>(4)};
    T const max = std::numeric_limits<T>::max(), inf = std::numeric_limits<T>::infinity();
    // The largest that may be: every number of the product is rank x 1/4 x max, at most half of the limit.
    auto const m = read_factors<T>(blank, {T(.25), T(.25), T(.25), T(-.25), max, max, max, max});
    CHECK(m.terms()[0].value == max / 2);
    auto const refused = [](factors<T, host> const& b, std::vector<T> const& encoded, char const* why) {
        CHECK_THROWS_WITH_AS(read_factors<T>(b, encoded), doctest::Contains(why), wire_error);
    };
    refused(blank, {T(.5), 0, 0, 0, max, 0, 0, 0}, "may not be finite");
    refused(blank, {max, 0, 0, 0, 0, 0, 0, -max}, "may not be finite");
    refused(blank, {0, 0, inf, 0, 0, 0, 0, 0}, "not finite");
    refused(blank, {0, 0, 0, 0, 0, 0, 0, std::numeric_limits<T>::quiet_NaN()}, "not finite");
    refused({5, 2, 0, {}, {}}, {}, "5 numbers are no matrix of 2 rows");
    refused({5, 0, 0, {}, {}}, {}, "");
}
