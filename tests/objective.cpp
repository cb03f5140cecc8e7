// SPDX-License-Identifier: Apache-2.0
// One include reads a table of data, makes a model of it and finds the model's optimum.
#include "laconic/objective.hpp"

#include "support/everything.hpp"

TEST_CASE("ridge regression of two rows, from their text to its optimum by hand") {
    std::istringstream text("1 1:1\n3 2:1\n");
    ridge<> const f(read_libsvm(text, "two rows"), 0.5);
    auto const best = find_optimum(f);  // of ((x_1 - 1)^2 + (x_2 - 3)^2) / 4 + (x_1^2 + x_2^2) / 4
    CHECK(best.x[0] == doctest::Approx(0.5));
    CHECK(best.x[1] == doctest::Approx(1.5));
}
