// SPDX-License-Identifier: Apache-2.0
// `unit_scale` is the power of two that takes a number into [1/2, 1), limited to where squares stay in range.
#include "laconic/backend/unit_scale.hpp"

#include "support/everything.hpp"

using namespace laconic;
using namespace laconic::kernels;

TEST_CASE_TEMPLATE("a power of two that takes a number into [1/2, 1)", T, float, double) {
    CHECK(unit_scale(T(1)) == T(0.5));
    CHECK(unit_scale(T(0.5)) == 1);
    CHECK(unit_scale(T(0.75)) == 1);
    CHECK(unit_scale(T(100)) == T(1) / 128);
    CHECK(unit_scale(T(0)) == 1);
    for (T const v : {T(3), T(1e-30), T(1e30), T(0.1)}) {
        CHECK(v * unit_scale(v) >= T(0.5));
        CHECK(v * unit_scale(v) < 1);
        CHECK(v * unit_scale(v) / unit_scale(v) == v);
    }
}

TEST_CASE("no further than where squares and sums are safe") {
    CHECK(unit_scale(std::numeric_limits<double>::denorm_min()) == 0x1p1000);
    CHECK(unit_scale(std::numeric_limits<double>::max()) == 0x1p-1000);
    CHECK(unit_scale(std::numeric_limits<float>::denorm_min()) == 0x1p104f);
    CHECK(unit_scale(std::numeric_limits<float>::max()) == 0x1p-104f);
}
