// SPDX-License-Identifier: Apache-2.0
// Columns of a data set keep their numbers, rows and labels, and what is outside is refused.
#include "laconic/objective/columns.hpp"

#include "support/everything.hpp"

using namespace laconic;

TEST_CASE("columns of a sparse data set, as a dense matrix has them") {
    dataset<double> data{"toy", {}, {3, 1, 2}};
    data.rows.resize(3, 4);
    data.rows.insert(0, 1) = 5;
    data.rows.insert(0, 3) = 6;
    data.rows.insert(2, 0) = 7;
    data.rows.insert(2, 2) = 8;
    Eigen::MatrixXd const all(data.rows);
    for (std::size_t begin = 0; begin < 4; ++begin)
        for (std::size_t end = begin + 1; end <= 4; ++end) {
            auto const some = columns(data, begin, end, "some");
            CHECK(some.name == "some");
            CHECK(some.labels == data.labels);
            CHECK(some.features() == end - begin);
            CHECK(Eigen::MatrixXd(some.rows) == all.middleCols(Eigen::Index(begin), Eigen::Index(end - begin)));
        }
    CHECK_THROWS_WITH_AS(columns(data, 2, 2, ""), "toy: no columns 2 to 2 of 4", argument_error);
    CHECK_THROWS_WITH_AS(columns(data, 2, 5, ""), "toy: no columns 2 to 5 of 4", argument_error);
}
