// SPDX-License-Identifier: Apache-2.0
// Each grid of the device gives a number's two neighbours and its exact fraction between them.
#include "laconic/backend/device/round.hpp"

#include "support/test.hpp"

using namespace laconic;

TEST_CASE_TEMPLATE("the neighbours of a number, and how far it is on the way to the upper one", T, float, double) {
    using namespace detail::on_device;
    T const zero = 0, step = T(0.5), six = 6, minus_one = -1;
    auto const is = [](neighbours_of_value n, double fraction, int below, int above) {
        return n.fraction == fraction * 0x1p32 && n.below == below && n.above == above;
    };
    to_levels<T, std::int16_t> const levels{&step, 4};
    CHECK(is(levels(T(-1.125), 0), 0.75, -3, -2));
    CHECK(is(levels(2, 0), 0, 4, 5));
    CHECK(is(levels(T(2.125), 0), 0, 4, 5));
    CHECK(is(levels(T(-2.125), 0), 0, -4, -3));
    CHECK(is(levels(std::numeric_limits<T>::quiet_NaN(), 0), 0, -4, -3));
    CHECK(is(to_levels<T, std::int16_t>{&zero, 4}(0, 0), 0, 0, 0));
    CHECK(levels.code(-1, -3) == -3);
    to_halvings<T> const halvings{&six, 4};  // 0, 0.75, 1.5, 3, 6
    CHECK(is(halvings(6, 0), 0, 4, 5));
    CHECK(is(halvings(T(-3.75), 0), 0.25, 3, 4));
    CHECK(is(halvings(T(0.375), 0), 0.5, 0, 1));
    CHECK(is(halvings(0, 0), 0, 0, 1));
    CHECK(is(to_halvings<T>{&zero, 4}(0, 0), 0, 0, 0));
    to_range<T> const range{&minus_one, &step, 3};  // -1, -0.5, 0, 0.5
    CHECK(is(range(T(-0.625), 0), 0.75, 0, 1));
    CHECK(is(range(T(0.5), 0), 0, 3, 3));
}
