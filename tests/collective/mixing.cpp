// SPDX-License-Identifier: Apache-2.0
// The facts of averaging over graphs whose eigenvalues are known.
#include "laconic/collective/mixing.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <numbers>

using namespace laconic;

TEST_CASE("rings: eigenvalues (1 + 2 cos(2 pi k / n)) / 3") {
    for (int const n : {3, 4, 5, 8, 25}) {
        double second = 0, least = 1;
        for (int k = 1; k < n; ++k) {
            double const value = (1 + 2 * std::cos(2 * std::numbers::pi * k / n)) / 3;
            second = std::max(second, std::abs(value)), least = std::min(least, value);
        }
        mixing const facts(graph::ring(n));
        CHECK(facts.gap == doctest::Approx(1 - second).epsilon(1e-12));
        CHECK(facts.beta == doctest::Approx(1 - least).epsilon(1e-12));
    }
}

TEST_CASE("two ranks mix at once, a star slowly, one rank has nothing to mix") {
    CHECK(mixing(graph::chain(2)).gap == doctest::Approx(1));
    CHECK(mixing(graph::chain(2)).beta == doctest::Approx(1));
    // A star of n: 1, then 1 - 1 / n for n - 2 times, and 0.
    CHECK(mixing(graph::star(10, 3)).gap == doctest::Approx(.1));
    CHECK(mixing(graph::star(10, 3)).beta == doctest::Approx(1));
    CHECK(mixing(graph::chain(1)).gap == doctest::Approx(1));
    CHECK(mixing(graph::chain(1)).beta == doctest::Approx(0));
}
