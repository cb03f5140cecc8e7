// SPDX-License-Identifier: Apache-2.0
#include "laconic/backend/rounding.hpp"

#include <doctest/doctest.h>

TEST_CASE("a value becomes one of its neighbours at random, unless the nearest is asked for") {
    CHECK(laconic::rounding{} == laconic::rounding::random);
    CHECK(laconic::rounding{} != laconic::rounding::nearest);
}
