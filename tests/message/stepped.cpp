// SPDX-License-Identifier: Apache-2.0
// A number is its bucket's least and as many steps as its code says, rounded once.
#include "laconic/message/stepped.hpp"

#include "support/everything.hpp"

using namespace laconic;
using namespace laconic::messages;

static_assert(Message<stepped<double, host>, double, host> && Message<stepped<float, host>, float, host>);
static_assert(stepped<float, host>::terms_type::in_order);

// 3 x 0.1f is above 0.3f; rounded before the sum, -0.3f would be added to 0.3f's neighbour, 2^-25 above it.
TEST_CASE("a stepped number is rounded once") {
    float const least = -0.3f, step = 0.1f;
    double const exact = static_cast<double>(least) + 3 * static_cast<double>(step);  // fits a double
    CHECK(stepped_value(least, step, 3) == static_cast<float>(exact));
    float volatile product = 3 * step;
    CHECK(stepped_value(least, step, 3) != least + product);
    CHECK(stepped_value(5.0, 0.0, 255) == 5);
}
