// SPDX-License-Identifier: Apache-2.0
// A data set is cut into equal parts, labelled by two classes and scaled, and impossible requests are refused.
#include "laconic/objective/dataset.hpp"

#include "support/error_of.hpp"
#include "support/everything.hpp"

// Row j is (j + 1, 0, j % 2), labelled as given.
laconic::dataset<double> rows_with(std::vector<double> labels) {
    laconic::dataset<double> data{"toy", {}, labels};
    data.rows.resize(std::ptrdiff_t(labels.size()), 3);
    for (std::ptrdiff_t j = 0; j < data.rows.rows(); ++j) {
        data.rows.insert(j, 0) = double(j) + 1;
        if (j % 2) data.rows.insert(j, 2) = 1;
    }
    return data;  // not compressed, as a user may leave it
}

TEST_CASE("parts are contiguous, have all rows, and differ by one row at most") {
    for (std::size_t const m : {1u, 2u, 7u, 11u, 12u, 13u})
        for (std::size_t n = 1; n <= m; ++n) {
            std::vector<double> labels, joined;
            for (std::size_t j = 0; j < m; ++j) labels.push_back(double(j));
            auto const data = rows_with(labels);
            for (std::size_t i = 0; i < n; ++i) {
                auto const part = data.part(i, n);
                CHECK(part.samples() == m / n + (i < m % n ? 1 : 0));
                joined.insert(joined.end(), part.labels.begin(), part.labels.end());
            }
            CHECK(joined == labels);
        }
}

TEST_CASE("parts have the rows of their labels") {
    auto const data = rows_with({0, 1, 2, 3, 4, 5, 6});
    CHECK(data.samples() == 7);
    CHECK(data.features() == 3);
    for (std::size_t i = 0; i < 3; ++i) {
        auto const part = data.first(6).part(i, 3);
        REQUIRE(part.samples() == 2);
        CHECK(part.features() == 3);
        CHECK(part.rows.isCompressed());
        CHECK(part.labels == std::vector<double>{double(2 * i), double(2 * i + 1)});
        CHECK(part.rows.coeff(0, 0) == double(2 * i + 1));
        CHECK(part.rows.coeff(1, 0) == double(2 * i + 2));
        CHECK(part.rows.coeff(1, 2) == double((2 * i + 1) % 2));
        CHECK(part.rows.nonZeros() == 3);
    }
    CHECK(data.part(1, 3).name == "toy[1/3]");
    CHECK(data.part(0, 1).labels == data.labels);
    CHECK(data.part(6, 7).labels == std::vector<double>{6});
    CHECK(data.first(6).labels == std::vector<double>{0, 1, 2, 3, 4, 5});
    CHECK(data.first(7).rows.isApprox(data.rows));
    CHECK(data.first(0).samples() == 0);
}

TEST_CASE("impossible parts are refused with the numbers") {
    auto const data = rows_with({0, 1, 2});
    CHECK(error_of<laconic::argument_error>([&] { data.part(0, 0); }) == "toy: cannot cut 3 rows into 0 parts");
    CHECK(error_of<laconic::argument_error>([&] { data.part(0, 4); }) == "toy: cannot cut 3 rows into 4 parts");
    CHECK(error_of<laconic::argument_error>([&] { data.part(3, 3); }) == "toy: no part 3 of 3 parts that count from 0");
    CHECK_THROWS_AS(data.part(std::numeric_limits<std::size_t>::max(), 3), laconic::argument_error);
    CHECK_THROWS_AS(data.first(4), laconic::argument_error);
    CHECK_THROWS_AS(data.slice(2, 1, ""), laconic::argument_error);

    auto unlabelled = data;
    unlabelled.labels.pop_back();
    CHECK_THROWS_AS(unlabelled.first(2), laconic::argument_error);
}

TEST_CASE("the smaller of two labels becomes -1, the larger +1") {
    auto data = rows_with({7, 2, 2, 7});
    laconic::binary_labels(data);
    CHECK(data.labels == std::vector<double>{1, -1, -1, 1});
    laconic::binary_labels(data);
    CHECK(data.labels == std::vector<double>{1, -1, -1, 1});

    auto negative = rows_with({-3, -5});
    laconic::binary_labels(negative);
    CHECK(negative.labels == std::vector<double>{1, -1});
}

TEST_CASE("scaled features have a largest magnitude of 1, and those that are zero everywhere stay") {
    Eigen::MatrixXd const rows{{3, 0, 0, -1e300}, {-6, 0, 0, 0}, {0, 0, 0, 5e299}};
    laconic::dataset<double> data{"toy", rows.sparseView(), {1, 2, 3}};
    data.rows.insert(1, 1) = 0;
    data.rows.makeCompressed();
    laconic::scale_features(data);
    CHECK(Eigen::MatrixXd(data.rows) == Eigen::MatrixXd{{0.5, 0, 0, -1}, {-1, 0, 0, 0}, {0, 0, 0, 0.5}});
    CHECK(data.labels == std::vector<double>{1, 2, 3});
    laconic::dataset<double> nothing;
    laconic::scale_features(nothing);
    CHECK(nothing.samples() == 0);
}

TEST_CASE("other than two classes are refused and counted") {
    auto const refused = [](std::vector<double> labels) {
        auto data = rows_with(labels);
        auto const message = error_of<laconic::argument_error>([&] { laconic::binary_labels(data); });
        CHECK(data.labels == labels);
        return message;
    };
    CHECK(refused({4, 4}) == "toy: two classes are needed, the labels name 1: 4");
    CHECK(refused({3, 1, 2, 1}) == "toy: two classes are needed, the labels name 3: 1, 2, 3");
    CHECK(refused({9, 8, 7, 6, 5, 0.5}) == "toy: two classes are needed, the labels name 6: 0.5, 5, 6, 7, 8, ...");
    CHECK(refused({}) == "toy: two classes are needed, the labels name 0");
}

TEST_CASE("two classes of many keep their rows in order") {
    auto const data = rows_with({3, 1, 2, 3, 1, 0});
    auto const kept = laconic::only_classes(data, 3.0, 1.0);
    CHECK(kept.labels == std::vector<double>{3, 1, 3, 1});
    CHECK(kept.features() == 3);
    REQUIRE(kept.samples() == 4);
    CHECK(kept.rows.isCompressed());
    CHECK(Eigen::MatrixXd(kept.rows) == Eigen::MatrixXd{{1, 0, 0}, {2, 0, 1}, {4, 0, 1}, {5, 0, 0}});

    CHECK(error_of<laconic::argument_error>([&] { laconic::only_classes(data, 3.0, 9.0); }) ==
          "toy: no row has the label 9");
    CHECK(error_of<laconic::argument_error>([&] { laconic::only_classes(data, 8.0, 3.0); }) ==
          "toy: no row has the label 8");
    CHECK_THROWS_AS(laconic::only_classes(data, 3.0, 3.0), laconic::argument_error);
}

TEST_CASE("columns of a sparse data set, as a dense matrix has them") {
    Eigen::MatrixXd const all{{0, 5, 0, 6}, {0, 0, 0, 0}, {7, 0, 8, 0}};
    laconic::dataset<double> const data{"toy", all.sparseView(), {3, 1, 2}};
    for (std::size_t begin = 0; begin < 4; ++begin)
        for (std::size_t end = begin + 1; end <= 4; ++end) {
            auto const some = laconic::columns(data, begin, end, "some");
            CHECK(some.name == "some");
            CHECK(some.labels == data.labels);
            CHECK(some.features() == end - begin);
            CHECK(Eigen::MatrixXd(some.rows) == all.middleCols(Eigen::Index(begin), Eigen::Index(end - begin)));
        }
    CHECK_THROWS_WITH_AS(laconic::columns(data, 2, 2, ""), "toy: no columns 2 to 2 of 4", laconic::argument_error);
    CHECK_THROWS_WITH_AS(laconic::columns(data, 2, 5, ""), "toy: no columns 2 to 5 of 4", laconic::argument_error);
}
