// SPDX-License-Identifier: Apache-2.0
// Penalties have the derivatives of differences within their stated range, and are finite for any x.
#include "laconic/objective/penalty.hpp"

#include "support/everything.hpp"

static_assert(Penalty<squared_penalty> && Penalty<bounded_penalty>);

struct no_range {
    static double value(double) { return 0; }
    static double slope(double) { return 0; }
    static double bend(double) { return 0; }
};
static_assert(!Penalty<no_range>);

TEST_CASE_TEMPLATE("penalty: derivatives are those of central differences and keep their range", P, squared_penalty,
                   bounded_penalty) {
    CHECK(P::value(0) == 0);
    CHECK(P::slope(0) == 0);
    for (double x = -4; x <= 4; x += 0.0625) {
        CAPTURE(x);
        double const step = 1e-5;
        CHECK(P::value(x) == P::value(-x));
        CHECK(std::abs(P::slope(x) - (P::value(x + step) - P::value(x - step)) / (2 * step)) < 1e-9);
        CHECK(std::abs(P::bend(x) - (P::slope(x + step) - P::slope(x - step)) / (2 * step)) < 1e-9);
        CHECK(P::bend(x) <= P::largest_bend);
        CHECK(P::bend(x) >= P::smallest_bend);
    }
}

TEST_CASE("penalty: by hand, and where the bounds are reached") {
    CHECK(squared_penalty::value(3) == 4.5);
    CHECK(squared_penalty::slope(3) == 3);
    CHECK(squared_penalty::bend(3) == 1);
    CHECK(bounded_penalty::value(1) == 0.5);
    CHECK(bounded_penalty::value(-3) == 0.9);
    CHECK(bounded_penalty::slope(1) == 0.5);
    CHECK(bounded_penalty::bend(0) == bounded_penalty::largest_bend);
    CHECK(bounded_penalty::bend(1) == bounded_penalty::smallest_bend);
    CHECK(bounded_penalty::bend(-1) == bounded_penalty::smallest_bend);
}

TEST_CASE("penalty: the bounded one is finite for any x, exact for small ones, and hides no NaN") {
    for (double x : {1e10, 1e160, 1e308}) {
        CHECK(bounded_penalty::value(x) == 1);
        CHECK(bounded_penalty::slope(x) >= 0);
        CHECK(bounded_penalty::slope(x) < 1e-29);
        CHECK(std::abs(bounded_penalty::bend(x)) < 1e-39);
    }
    CHECK(bounded_penalty::value(1e-10) == doctest::Approx(1e-20).epsilon(1e-15));
    CHECK(std::isnan(bounded_penalty::value(std::nan(""))));
    CHECK(std::isnan(bounded_penalty::slope(std::nan(""))));
    CHECK(std::isnan(bounded_penalty::bend(std::nan(""))));
}
