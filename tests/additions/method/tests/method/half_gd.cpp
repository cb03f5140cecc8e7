// SPDX-License-Identifier: Apache-2.0
// A method that stands in the list is read from its text, and takes half a step.
#include "laconic/method/half_gd.hpp"

#include <doctest/doctest.h>

#include "laconic/parse_method.hpp"

TEST_CASE("half_gd is known by its name, with its fields") {
    laconic::problem p{8, 5};
    p.smoothness = 4;
    auto const method = laconic::parse_method("half_gd");
    CHECK(method.compose<double, laconic::host>(p).step.rate() == 1. / 8);
    CHECK(to_string(laconic::parse_method("half_gd(step=0.25)")) == "half_gd(step=0.25)");
}
