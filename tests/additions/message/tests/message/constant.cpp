// SPDX-License-Identifier: Apache-2.0
// A constant has the same number at every coordinate.
#include "laconic/message/constant.hpp"

#include <doctest/doctest.h>

#include "laconic/backend/host.hpp"

TEST_CASE("all terms of a constant are alike") {
    laconic::messages::constant<double, laconic::host> const m{3, 5};
    CHECK(m.terms().size() == 3);
    CHECK(m.terms()[2].value == 5);
}
