// SPDX-License-Identifier: Apache-2.0
// The squared loss and the constants of ridge regression are those by hand.
#include "laconic/objective/ridge.hpp"

#include "support/everything.hpp"

using laconic::squared_loss;

static_assert(laconic::Loss<squared_loss>);
static_assert(laconic::FusedObjective<laconic::ridge<>> && laconic::SmoothObjective<laconic::ridge<>>);
static_assert(laconic::FusedObjective<laconic::ridge<float>, float>);

TEST_CASE("the squared loss is half a square") {
    CHECK(squared_loss::value_and_slope(3, 1) == std::pair{2.0, 2.0});
    CHECK(squared_loss::value_and_slope(1, 3) == std::pair{2.0, -2.0});
    CHECK(squared_loss::bend(5, 1) == 1);
    CHECK(squared_loss::accepts(-17.5));
    CHECK(!squared_loss::accepts(std::nan("")));
    CHECK(!squared_loss::accepts(std::numeric_limits<double>::infinity()));
}

TEST_CASE("mu of ridge regression by hand") {
    // A'A / N = diag(2, 8), two rows
    laconic::dataset<double> data{"two", {}, {1, -1}};
    data.rows.resize(2, 2);
    data.rows.insert(0, 0) = 2;
    data.rows.insert(1, 1) = 4;
    laconic::ridge<> const f(data, 0.5);
    CHECK(f.smoothness() == doctest::Approx(8.5).epsilon(1e-14));
    CHECK(f.strong_convexity() == doctest::Approx(2.5).epsilon(1e-14));

    laconic::ridge<> const fewer_rows_than_features(data.first(1), 0.5);
    CHECK(fewer_rows_than_features.smoothness() == doctest::Approx(4.5).epsilon(1e-14));
    CHECK(fewer_rows_than_features.strong_convexity() == 0.5);
}
