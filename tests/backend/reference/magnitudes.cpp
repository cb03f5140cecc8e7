// SPDX-License-Identifier: Apache-2.0
// The reference's `soft_threshold` and `clip_magnitudes` give the numbers that a reader finds by hand.
#include "laconic/backend/reference/magnitudes.hpp"

#include "support/everything.hpp"

using namespace laconic;

TEST_CASE("magnitudes lose two, or are at most two") {
    reference on;
    std::vector<float> x{3, -3, 2, -2, 1, -0.0f};
    auto y = x;
    soft_threshold(on, 2.0f, std::span<float>(x));
    CHECK(x == std::vector<float>{1, -1, 0, 0, 0, 0});
    clip_magnitudes(on, 2.0f, std::span<float>(y));
    CHECK(y == std::vector<float>{2, -2, 2, -2, 1, 0});
}
