// SPDX-License-Identifier: Apache-2.0
#include "laconic/backend/matrix_is.hpp"

#include <doctest/doctest.h>

TEST_CASE("a matrix enters a product in one of two ways, by default as it stands") {
    CHECK(laconic::matrix_is{} == laconic::matrix_is::as_it_stands);
    CHECK(laconic::matrix_is{} != laconic::matrix_is::transposed);
}
