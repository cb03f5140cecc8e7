// SPDX-License-Identifier: Apache-2.0
// Every constant of a problem is unknown until it is given, and counts in comparison.
#include "laconic/objective/problem.hpp"

#include "support/everything.hpp"

TEST_CASE("problem: every constant is unknown until it is given") {
    laconic::problem p;
    CHECK(p.dimension == 0);
    CHECK(p.workers == 1);
    CHECK(p.smoothness == 0);
    CHECK(p.strong_convexity == 0);
    CHECK(p.largest_smoothness == 0);
    CHECK(p.mean_square_smoothness == 0);
    CHECK(p.least_strong_convexity == 0);
    CHECK(p.samples == 0);
    CHECK(p.largest_sample_smoothness == 0);
    CHECK(p.own_smoothness == 0);
    laconic::problem q = p;
    CHECK(p == q);
    q.largest_smoothness = 2;
    CHECK(p != q);
    q = p;
    q.samples = 3;
    CHECK(p != q);
    q = p;
    q.own_smoothness = 3;
    CHECK(p != q);
}
