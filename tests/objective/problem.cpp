// SPDX-License-Identifier: Apache-2.0
// Every constant of a problem is unknown until it is given, and counts in comparison.
#include "laconic/objective/problem.hpp"

#include "support/everything.hpp"

using laconic::problem;

TEST_CASE("problem: every constant is unknown until it is given") {
    CHECK(problem{} == problem{0, 1, 0, 0, 0, 0, 0, 0, 0, 0});
    for (problem const& given : {problem{.largest_smoothness = 2}, {.samples = 3}, {.own_smoothness = 3}})
        CHECK(given != problem{});
}
