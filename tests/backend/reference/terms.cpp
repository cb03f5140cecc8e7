// SPDX-License-Identifier: Apache-2.0
// The reference's `scatter` writes whole units, of which the last may be shorter.
#include "laconic/backend/reference/terms.hpp"

#include "support/everything.hpp"

using namespace laconic;

TEST_CASE("five numbers in units of two: the last unit is one number") {
    reference on;
    std::vector<float> const values{7, 8, 9};
    std::vector<coordinate> const at{0, 2};
    std::vector<float> x(5, 1.0f);
    scatter(on, std::span<float const>(values), std::span<coordinate const>(at), 2, std::span<float>(x));
    CHECK(x == std::vector<float>{7, 8, 1, 1, 9});
}
