// SPDX-License-Identifier: Apache-2.0
// `matrix_is` says whether a product takes the rows of a matrix or its columns.
#include "laconic/backend/matrix_is.hpp"

#include "support/everything.hpp"

using namespace laconic;
using namespace laconic::kernels;

// | 1 2 3 |       |   1 |                  | 1 |
// | 4 5 6 | times |  10 |, transposed with | 10 |.
//                 | 100 |
TEST_CASE_TEMPLATE("a matrix enters a product row after row, as it stands or transposed", B, host, reference) {
    B on;
    std::vector<double> const x{1, 2, 3, 4, 5, 6}, three{1, 10, 100}, two{1, 10};
    std::vector<double> rows(2), columns(3);
    multiply_matrix(on, std::span<double const>(x), matrix_is::as_it_stands, std::span<double const>(three), 1,
                    std::span<double>(rows));
    CHECK(rows == std::vector<double>{321, 654});
    multiply_matrix(on, std::span<double const>(x), matrix_is::transposed, std::span<double const>(two), 1,
                    std::span<double>(columns));
    CHECK(columns == std::vector<double>{41, 52, 63});
}
