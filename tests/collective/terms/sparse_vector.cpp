// SPDX-License-Identifier: Apache-2.0
// A view of a sparse vector is made of any contiguous ranges, or of the vector that owns them.
#include "laconic/collective/terms/sparse_vector.hpp"

#include "support/everything.hpp"

TEST_CASE("views show the caller's arrays, whatever the type of the indices") {
    std::vector<std::int64_t> const indices{4, 1};
    Eigen::VectorXd const values = Eigen::VectorXd::Constant(2, 0.5);
    sparse_view const seen(10, indices, values);
    static_assert(std::same_as<decltype(seen), sparse_view<double, std::int64_t> const>);
    CHECK(seen.dimension == 10);
    CHECK(seen.indices.data() == indices.data());
    CHECK(seen.values.data() == values.data());

    sparse_vector<float> const own{7, {2, 3}, {1.0f, -1.0f}};
    sparse_view const of_own = own;
    static_assert(std::same_as<decltype(of_own), sparse_view<float> const>);
    CHECK(of_own.dimension == 7);
    CHECK(of_own.values.data() == own.values.data());
    CHECK(sparse_vector<float>{7, {2, 3}, {1.0f, -1.0f}} == own);
}
