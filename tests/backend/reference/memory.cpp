// SPDX-License-Identifier: Apache-2.0
#include "laconic/backend/reference/memory.hpp"

#include <doctest/doctest.h>

#include <concepts>

TEST_CASE("the arrays of the definition are vectors") {
    CHECK(std::same_as<laconic::reference::array<float>, std::vector<float>>);
}
