// SPDX-License-Identifier: Apache-2.0
// A sum of doubles loses nothing to rounding, and stays infinite or NaN where a summand is.
#include "laconic/objective/exact_sum.hpp"

#include "support/everything.hpp"

using laconic::exact_sum;

TEST_CASE("exact_sum: nothing is rounded away") {
    exact_sum sum;
    for (double v : {1e16, 1.0, 1e-3, -1e16}) sum.add(v);
    CHECK(sum.total() == 1.001);

    exact_sum tenths;
    double plain = 0;
    for (int i = 0; i < 1000000; ++i) tenths.add(0.1), plain += 0.1;
    CHECK(tenths.total() == 100000);
    CHECK(plain != 100000);
}

TEST_CASE("exact_sum: what is not finite stays so") {
    exact_sum sum;
    CHECK(sum.total() == 0);
    sum.add(std::numeric_limits<double>::infinity());
    sum.add(1);
    CHECK(sum.total() == std::numeric_limits<double>::infinity());
    sum.add(-std::numeric_limits<double>::infinity());
    CHECK(sum.total() != sum.total());
}
