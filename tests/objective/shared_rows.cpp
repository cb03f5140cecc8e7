// SPDX-License-Identifier: Apache-2.0
// Rows are read in place with products and eigenvalues by hand, copies share them, and empty data are refused.
#include "laconic/objective/shared_rows.hpp"

#include "support/drawn.hpp"
#include "support/everything.hpp"

dataset<> three_rows() {
    Eigen::MatrixXd const rows{{1, 0, 2, 0, 3, 4, 5}, {0, 0, 0, 0, 0, 0, 0}, {0, 0, 0, 0, 0, 0, -6}};
    return {"toy", rows.sparseView(), {1, 2, 3}};
}

TEST_CASE("shared_rows: rows by hand") {
    shared_rows<double> const rows(three_rows());
    CHECK(rows.size() == 3);
    CHECK(rows.features() == 7);
    CHECK(rows.label(1) == 2);
    CHECK(rows[0].count == 5);
    CHECK(rows[1].count == 0);

    std::vector<double> const x{1, 10, 100, 1000, 1, 2, 3};
    CHECK(rows[0].dot(std::span(x)) == 1 + 200 + 3 + 8 + 15);
    CHECK(rows[1].dot(std::span(x)) == 0);
    CHECK(rows[2].dot(std::span(x)) == -18);
    CHECK(rows[0].square() == 55);
    CHECK(rows.largest_square() == 55);

    std::vector<double> g(7, 1);
    rows[0].add_to(std::span(g), 2);
    rows[2].add_to(std::span(g), 0.5);
    CHECK(g == std::vector<double>{3, 1, 5, 1, 7, 9, 8});
    std::vector<float> single(7);
    rows[2].add_to(std::span(single), 0.25);
    CHECK(single[6] == -1.5f);
}

TEST_CASE("shared_rows: the eigenvalues of A'A / N") {
    shared_rows<double> const rows(three_rows());
    // |a_0|^2 = 55, |a_2|^2 = 36, a_0 . a_2 = -30: the two that are not 0 solve (55 - t)(36 - t) = 900
    CHECK(rows.largest_eigenvalue() == doctest::Approx((91 + std::sqrt(19. * 19 + 3600)) / 6).epsilon(1e-13));
    CHECK(rows.smallest_eigenvalue() == 0);  // fewer rows than features

    Eigen::MatrixXd const four_rows{{4, 0}, {0, 0}, {0, 0}, {0, 2}};
    shared_rows<double> const diagonal(dataset<>{"diagonal", four_rows.sparseView(), {0, 0, 0, 0}});
    CHECK(diagonal.largest_eigenvalue() == doctest::Approx(4).epsilon(1e-13));
    CHECK(diagonal.smallest_eigenvalue() == doctest::Approx(1).epsilon(1e-13));
}

TEST_CASE("shared_rows: copies share the data") {
    shared_rows<double> const rows(three_rows());
    auto const copy = rows;
    CHECK(&copy.data() == &rows.data());
    CHECK(copy[0].value == rows[0].value);
    CHECK(copy[0].column == rows[0].column);
}

TEST_CASE("shared_rows: all rows, or those that are listed") {
    auto const all = row_choice::all(3);
    CHECK(all.size() == 3);
    CHECK(all[2] == 2);
    std::vector<std::uint32_t> const rows{7, 7, 1};
    auto const listed = row_choice::of(rows);
    CHECK(listed.size() == 3);
    CHECK(listed[1] == 7);
    CHECK(listed[2] == 1);
}

TEST_CASE("shared_rows: what makes no objective is refused") {
    CHECK_THROWS_AS(shared_rows<double>(dataset<>{}), argument_error);
    CHECK_THROWS_WITH_AS(shared_rows<double>(three_rows().first(0)), "toy: 0 rows of 7 features make no objective",
                         argument_error);
    auto data = three_rows();
    data.labels.push_back(4);
    CHECK_THROWS_WITH_AS(shared_rows<double>{data}, "toy: 3 rows, but 4 labels", shape_error);
    data = three_rows();
    data.rows.coeffRef(0, 0) = std::numeric_limits<double>::quiet_NaN();
    CHECK_THROWS_AS(shared_rows<double>(data).largest_eigenvalue(), error);
}
