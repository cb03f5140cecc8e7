// SPDX-License-Identifier: Apache-2.0
// The Taylor loss touches the logistic loss at 0, and has an affine slope.
#include "laconic/objective/taylor_logistic.hpp"

#include "support/everything.hpp"

using laconic::logistic_loss, laconic::taylor_logistic_loss;

static_assert(laconic::Loss<taylor_logistic_loss>);

TEST_CASE("the Taylor loss is the logistic loss to the fourth power of z, and its slope is its derivative") {
    for (double const y : {-1., 1.}) {
        CHECK(taylor_logistic_loss::accepts(y));
        for (double z = -.5; z <= .5; z += .125) {
            double const far = taylor_logistic_loss::value(z, y) - logistic_loss::value(z, y);
            CHECK(far >= -1e-16);
            CHECK(far <= std::pow(z, 4) / 192 + 1e-16);
            auto const [value, slope] = taylor_logistic_loss::value_and_slope(z, y);
            CHECK(value == taylor_logistic_loss::value(z, y));
            CHECK(slope == z / 4 - y / 2);
            double const by_differences =
                (taylor_logistic_loss::value(z + .5, y) - taylor_logistic_loss::value(z - .5, y));
            CHECK(slope == doctest::Approx(by_differences).epsilon(1e-12));
        }
    }
    CHECK(taylor_logistic_loss::bend(3, 1) == .25);
    CHECK(!taylor_logistic_loss::accepts(0));
}
