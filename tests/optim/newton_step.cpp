// SPDX-License-Identifier: Apache-2.0
// Newton's step with a matrix that is projected or lifted is that of its definition, by either way to compute it.
#include "laconic/optim/newton_step.hpp"

#include "support/everything.hpp"
#include "support/solvers.hpp"

// Eigenvalues 3 and e, along (3, 4) / 5 and (-4, 3) / 5.
Eigen::MatrixXd with_eigenvalue(double e) {
    Eigen::Vector2d const a(.6, .8), b(-.8, .6);
    return 3 * a * a.transpose() + e * b * b.transpose();
}
std::vector<double> solved(Eigen::MatrixXd const& m, definite_by how, double number, bool expected = true) {
    newton_step solve;
    std::vector<double> step{3, 4};
    step[0] += -.8, step[1] += .6;  // 5 a + b
    CHECK(solve(m, how, number, step) == expected);
    return {.6 * step[0] + .8 * step[1], -.8 * step[0] + .6 * step[1]};
}

TEST_CASE("newton_step: a projection raises what is below, and only that") {
    for (double const e : {-2., .1, .5, 2.}) {
        CAPTURE(e);
        auto const along = solved(with_eigenvalue(e), definite_by::projection, .5);
        CHECK(along[0] == doctest::Approx(5 / 3.).epsilon(1e-13));
        CHECK(along[1] == doctest::Approx(1 / std::max(e, .5)).epsilon(1e-13));
    }
}

TEST_CASE("newton_step: a lift adds to all, and fails where that is not enough") {
    auto const along = solved(with_eigenvalue(-2), definite_by::lift, 4);
    CHECK(along[0] == doctest::Approx(5 / 7.).epsilon(1e-13));
    CHECK(along[1] == doctest::Approx(1 / 2.).epsilon(1e-13));
    auto const unchanged = solved(with_eigenvalue(-2), definite_by::lift, 1.5, false);
    CHECK(unchanged[0] == doctest::Approx(5).epsilon(1e-13));
    CHECK(words_of(definite_by::lift)[0] == "projection");
}
