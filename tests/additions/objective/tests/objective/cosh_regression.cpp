// SPDX-License-Identifier: Apache-2.0
// A model made of a loss has an optimum that the solvers find.
#include "laconic/objective/cosh_regression.hpp"

#include <doctest/doctest.h>

#include "laconic/objective.hpp"

TEST_CASE("cosh_regression of two equal rows has its optimum at their label where there is no penalty") {
    auto const rows = laconic::read_libsvm(std::string_view("3 1:1\n3 1:1\n"), "rows");
    laconic::cosh_regression<> const f(rows, 0);
    CHECK(laconic::find_optimum(f).x[0] == doctest::Approx(3));
}
