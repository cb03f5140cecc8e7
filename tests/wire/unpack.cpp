// SPDX-License-Identifier: Apache-2.0
// An unpacked message adds itself to a vector of its dimension, and to no other.
#include "laconic/wire/unpack.hpp"

#include "support/everything.hpp"

TEST_CASE("what is unpacked adds itself to a vector of its dimension") {
    unpacked const dense{3, true, {}, {1, 2, 3}}, sparse{4, false, {1, 3}, {5, -6}};
    std::vector<float> x(3, 1.0f), y(4, 0.0f);
    dense.add_to(std::span<float>(x), 2.0f);
    CHECK(x == std::vector<float>{3, 5, 7});
    sparse.add_to(std::span<float>(y));
    CHECK(y == std::vector<float>{0, 5, 0, -6});
    CHECK_THROWS_AS(sparse.add_to(std::span<float>(x)), shape_error);
}
