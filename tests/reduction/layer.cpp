// SPDX-License-Identifier: Apache-2.0
// Layers have names, sizes and, where they are matrices, rows, which must suit their numbers.
#include "laconic/reduction/layer.hpp"

#include "support/error_of.hpp"
#include "support/everything.hpp"

TEST_CASE("sizes alone make layers that are named by their places") {
    auto const two = layers_of({5, 7});
    REQUIRE(two.size() == 2);
    CHECK(two[0].name == "0");
    CHECK(two[1].name == "1");
    CHECK(two[1].size == 7);
    CHECK(two[1].rows == 0);
}

TEST_CASE("the numbers of a layer are a matrix of its rows") {
    auto const why = [](layer const& l) { return error_of([&] { detail::check_rows(l, "layer w: "); }); };
    CHECK(why({"w", 12, 3}) == "nothing");
    CHECK(why({"w", 0, 3}) == "nothing");
    for (int const rows : {0, 1}) CHECK(why({"w", 7, rows}) == "nothing");
    CHECK(why({"w", 7, 3}) == "layer w: 7 numbers are no matrix of 3 rows");
    CHECK(why({"w", 2, 3}) == "layer w: 2 numbers are no matrix of 3 rows");
}
