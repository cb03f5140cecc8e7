// SPDX-License-Identifier: Apache-2.0
// What numbers in buckets share is refused where no compressor writes it.
#include "laconic/wire/bucketed_kinds.hpp"

#include "support/bits.hpp"
#include "support/everything.hpp"

// The number of a message of one, whose scalars and code are given.
template <class M>
auto value_read(M const& blank, std::initializer_list<typename M::value_type> scalars, by_hand::word code) {
    std::vector<by_hand::word> words;
    for (auto const v : scalars) words.push_back(by_hand::number(v));
    words.push_back(code);
    auto const m = by_hand::read_into(blank, words);
    return m.terms()[0].value;
}

TEST_CASE("dithered: norms that are negative or not finite and levels outside the grid are refused") {
    auto const value = [](float norm, std::uint64_t word) {
        return value_read(dithered<float, host>{3, 1, {0}, {0}}, {norm}, {word, 3});
    };
    CHECK(value(8, 0) == -8);
    CHECK(value(8, 3) == 0);
    CHECK(value(8, 4) == 2);
    CHECK(value(std::numeric_limits<float>::max(), 6) == std::numeric_limits<float>::max());
    CHECK_THROWS_WITH_AS(value(8, 7), doctest::Contains("outside the grid"), wire_error);
    CHECK_THROWS_WITH_AS(value(-8, 3), doctest::Contains("negative norm"), wire_error);
    CHECK_THROWS_WITH_AS(value(-0.0f, 3), doctest::Contains("negative norm"), wire_error);
    CHECK_THROWS_AS(value(std::numeric_limits<float>::infinity(), 3), wire_error);
    CHECK_THROWS_AS(value(std::numeric_limits<float>::quiet_NaN(), 3), wire_error);
}

TEST_CASE_TEMPLATE("stepped: steps that are negative and grids that are not finite are refused", T, float, double) {
    auto const value = [](T least, T step, std::uint64_t code) {
        return value_read(stepped<T, host>{2, 1, {0}, {0}, {0}}, {least, step}, {code, 2});
    };
    T const max = std::numeric_limits<T>::max(), inf = std::numeric_limits<T>::infinity();
    CHECK(value(-1, T(0.5), 3) == T(0.5));
    CHECK(value(-1, 0, 3) == -1);
    CHECK(value(-max, max / 2, 2) == 0);
    CHECK(value(max, 0, 3) == max);
    CHECK_THROWS_WITH_AS(value(1, T(-0.5), 3), doctest::Contains("negative step"), wire_error);
    CHECK_THROWS_WITH_AS(value(1, T(-0.0), 3), doctest::Contains("negative step"), wire_error);
    // Refused for its end, though this code is not the last.
    CHECK_THROWS_WITH_AS(value(max, max / 4, 0), doctest::Contains("grid that is not finite"), wire_error);
    CHECK_THROWS_WITH_AS(value(0, max / 2, 0), doctest::Contains("grid that is not finite"), wire_error);
    CHECK_THROWS_AS(value(inf, 0, 0), wire_error);
    CHECK_THROWS_AS(value(-inf, 0, 0), wire_error);
    CHECK_THROWS_AS(value(0, inf, 0), wire_error);
    CHECK_THROWS_AS(value(std::numeric_limits<T>::quiet_NaN(), 0, 0), wire_error);
}

TEST_CASE("means on the wrong side of 0 are refused, and those that are not finite") {
    auto const value = [](float below, float above, std::uint64_t bit) {
        return value_read(means<float, host>{1, 1, {0}, {0}, {0}}, {below, above}, {bit, 1});
    };
    float const inf = std::numeric_limits<float>::infinity();
    CHECK(value(2, 3, 0) == 3);
    CHECK(value(2, 3, 1) == -2);
    CHECK(value(0, 0, 1) == 0);
    for (float const bad : {-1.0f, -0.0f, inf, -inf, std::numeric_limits<float>::quiet_NaN()}) {
        CHECK_THROWS_AS(value(bad, 1, 0), wire_error);
        CHECK_THROWS_AS(value(1, bad, 0), wire_error);
    }
    CHECK_THROWS_WITH_AS(value(-1, 1, 0), doctest::Contains("negative magnitude"), wire_error);
}
