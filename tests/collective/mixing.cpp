// SPDX-License-Identifier: Apache-2.0
// The facts of averaging over graphs whose eigenvalues are known.
#include "laconic/collective/mixing.hpp"

#include <Eigen/Dense>
#include <numbers>

#include "support/everything.hpp"

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

TEST_CASE("the rate of gossip is 1 less the largest eigenvalue of M'M, and best_gamma has the largest") {
    mixing const ring(graph::ring(6));  // the gap is 1/3, beta 4/3
    for (double const delta : {.01, .5, 1.}) {
        double const s = std::sqrt(1 - delta), best = ring.best_gamma(delta);
        for (double const gamma : {best, best / 3, .5}) {
            Eigen::Matrix2d m;
            m << 1 - gamma / 3, gamma * 4 / 3 * s, gamma * 4 / 3, (1 + gamma * 4 / 3) * s;
            Eigen::Matrix2d const square = m.transpose() * m;
            double const half = square.trace() / 2;  // of the roots of its characteristic polynomial
            double const largest = half + std::sqrt(half * half - square.determinant());
            CHECK(ring.rate(gamma, delta) == doctest::Approx(1 - largest).epsilon(1e-9));
        }
        CHECK(ring.rate(best, delta) > 0);
        for (double const factor : {.9, .99, 1.01, 1.1})
            CHECK(ring.rate(best * factor, delta) < ring.rate(best, delta));
    }
    CHECK(ring.best_gamma(1) == doctest::Approx(3. / 17));  // gap / (gap^2 + beta^2)
}

TEST_CASE("two ranks mix at once, a star slowly, one rank has nothing to mix") {
    CHECK(mixing(graph::chain(2)).gap == doctest::Approx(1));
    CHECK(mixing(graph::chain(2)).beta == doctest::Approx(1));
    // A star of n: 1, then 1 - 1 / n for n - 2 times, and 0.
    CHECK(mixing(graph::star(10, 3)).gap == doctest::Approx(.1));
    CHECK(mixing(graph::star(10, 3)).beta == doctest::Approx(1));
    CHECK(mixing(graph::chain(1)).gap == doctest::Approx(1));
    CHECK(std::abs(mixing(graph::chain(1)).beta) < 1e-14);
}
